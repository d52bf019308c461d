"""The chats of the fake Telegram, who is in them, and what a bot's message looks like there."""

import dataclasses
import re
from typing import Any, Final
from urllib.parse import urlsplit

from tests.fakes.telegram_html import Entity, ParseError, found_in, leads_somewhere, parse, units

TEXT_MAX: Final = 4096
GROUPS: Final = ("group", "supergroup")
_SECRET: Final = re.compile(r"[A-Za-z0-9_-]*")
_PORTS: Final = (None, 80, 88, 443, 8443)


class Refused(Exception):
    """An answer that is not `ok`."""

    def __init__(self, code: int, words: str, **parameters: int) -> None:
        super().__init__(words)
        self.code = code
        self.words = words
        self.parameters = parameters


@dataclasses.dataclass(frozen=True, kw_only=True)
class Person:
    id: int = 4242
    first_name: str = "Mia"
    last_name: str = ""
    is_bot: bool = False
    username: str = ""

    def as_json(self) -> dict[str, Any]:
        found = {key: value for key, value in dataclasses.asdict(self).items() if value != ""}
        return {"language_code": "en", **found}


MIA: Final = Person()


@dataclasses.dataclass(kw_only=True)
class Room:
    """A chat as the bot finds it. One with a person has that person's number."""

    id: int
    type: str = "private"
    title: str = ""
    first_name: str = ""
    username: str = ""
    topics: set[int] | None = None
    """Of a forum; None for a chat without."""
    closed_topics: frozenset[int] = frozenset()
    refuses: str = ""
    """What it answers with 403 to whatever the bot says there, after `Forbidden: `."""
    may_not: str = ""
    """The same with 400."""
    moved_to: int = 0
    """The supergroup that it became."""
    per_minute: int = 60
    """More messages than that are too many; 20 in a group."""
    last: int = 0
    """The newest message; they are counted in each chat."""
    sent_at: list[float] = dataclasses.field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        known = {"id": self.id, "type": self.type}
        names = {key: getattr(self, key) for key in ("title", "first_name", "username")}
        forum = {"is_forum": True} if self.topics is not None else {}
        return known | {key: value for key, value in names.items() if value} | forum

    def next_number(self) -> int:
        self.last += 1
        return self.last

    def enter(self) -> None:
        """Whether the bot may do something here. Raises Refused."""
        if self.moved_to:
            words = "Bad Request: group chat was upgraded to a supergroup chat"
            raise Refused(400, words, migrate_to_chat_id=self.moved_to)
        if self.refuses:
            raise Refused(403, f"Forbidden: {self.refuses}")

    def count(self, at: float) -> None:
        """One more message. Raises Refused when it is one too many."""
        most = 20 if self.type in GROUPS else self.per_minute
        self.sent_at = [sent for sent in self.sent_at if sent > at - 60]
        if len(self.sent_at) >= most:
            wait = max(1, int(self.sent_at[0] + 60 - at))
            raise Refused(429, f"Too Many Requests: retry after {wait}", retry_after=wait)
        self.sent_at.append(at)

    def check_topic(self, topic: int | None) -> None:
        """General, which is 1, cannot be named (tdlib/telegram-bot-api#798)."""
        if topic is None:
            return
        if topic not in (self.topics or set()):
            raise Refused(400, "Bad Request: message thread not found")
        if topic in self.closed_topics:
            raise Refused(400, "Bad Request: TOPIC_CLOSED")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Post:
    """A message of the bot's as its readers see it."""

    chat: int
    number: int
    text: str
    entities: tuple[Entity, ...]
    buttons: tuple[tuple[str, str], ...]
    """Words and address of each."""
    topic: int | None
    answers: int | None
    """The message that it stands under."""
    previews: bool

    @property
    def id(self) -> str:
        return f"{self.chat}:{self.number}"

    @property
    def links(self) -> dict[str, str]:
        """Address by the words that lead there."""
        return {entity.text: entity.url for entity in self.entities if entity.url}

    @property
    def rings(self) -> list[str]:
        """Names in it whose owners are disturbed."""
        return self.said("mention")

    def said(self, kind: str) -> list[str]:
        """What stands in an entity of a kind, such as `blockquote`."""
        return [entity.text for entity in self.entities if entity.type == kind]


def read_text(asked: dict[str, Any]) -> tuple[str, tuple[Entity, ...]]:
    """What a message of the bot's says, as people get it. Raises Refused."""
    source = asked.get("text")
    if not isinstance(source, str) or not source:
        raise Refused(400, "Bad Request: message text is empty")
    entities: list[Entity] = []
    if asked.get("parse_mode") == "HTML":
        try:
            source, entities = parse(source)
        except ParseError as error:
            raise Refused(400, f"Bad Request: can't parse entities: {error}") from error
    elif asked.get("parse_mode"):
        raise Refused(400, "Bad Request: unsupported parse_mode")
    text = source.strip()
    if not text:
        raise Refused(400, "Bad Request: message text is empty")
    if units(text) > TEXT_MAX:
        raise Refused(400, "Bad Request: message is too long")
    return text, (*entities, *found_in(text, entities))


def read_buttons(asked: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """One bad button refuses the whole message. Raises Refused."""
    rows = (asked.get("reply_markup") or {}).get("inline_keyboard") or []
    made = []
    for button in (button for row in rows for button in row):
        url = button["url"]
        if not leads_somewhere(url):
            words = f"inline keyboard button URL '{url}' is invalid: Wrong HTTP URL"
            raise Refused(400, f"Bad Request: {words}")
        if not button["text"]:
            raise Refused(400, "Bad Request: Text buttons are unallowed in the inline keyboard")
        made.append((button["text"], url))
    return tuple(made)


def check_webhook(url: str, secret: str, *, takes_http: bool) -> None:
    """Whether it would post there. Raises Refused."""
    if len(secret) > 256:
        raise Refused(400, "Bad Request: secret token is too long")
    if not _SECRET.fullmatch(secret):
        raise Refused(400, "Bad Request: secret token contains unallowed characters")
    place = urlsplit(url)
    words = ""
    if not url or takes_http:
        return
    if place.scheme != "https":
        words = "An HTTPS URL must be provided for webhook"
    elif place.port not in _PORTS:
        words = "Webhook can be set up only on ports 80, 88, 443 or 8443"
    elif "." not in (place.hostname or ""):
        words = "Failed to resolve host: Name or service not known"
    if words:
        raise Refused(400, f"Bad Request: bad webhook: {words}")
