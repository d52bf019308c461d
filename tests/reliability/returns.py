"""A handoff from the tool call to the resume note, with hostile text wherever one may write."""

import dataclasses
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote_plus

from django.test import Client
from hypothesis import strategies as st

from handoff import links
from handoff.contract import limits
from handoff.contract.kinds import FieldType
from handoff.contract.text import readable, scrub
from handoff.models import Agent, Channel, Conversation, Session
from tests import factories
from tests.contract.hostile import NAMES, PIECES, TEXTS

TALK_LENGTH: Final = 10
"""So many handoffs are about one conversation: a transcript takes time."""
CHOICES: Final = ("one", "two [2]", "• three")
TYPED: Final[dict[FieldType, Sequence[tuple[str, Any]]]] = {
    FieldType.STRING: [("Zoë", "Zoë"), (" a ", "a"), ("e\u0301", "é")],
    FieldType.MULTILINE: [("a\r\nb", "a\nb"), ("•", "•")],
    FieldType.NUMBER: [("12.50", 12.5), ("-3", -3), ("0", 0), ("999999999999999", 10**15 - 1)],
    FieldType.BOOLEAN: [("true", True), ("false", False)],
    FieldType.ENUM: [(choice, choice) for choice in CHOICES],
    FieldType.DATE: [("2028-02-29", "2028-02-29"), ("2026-06-10", "2026-06-10")],
    FieldType.URL: [("https://carrier.example/a?b=c#d", "https://carrier.example/a?b=c#d")],
}
"""What a person may type into each, and what comes back."""


@dataclasses.dataclass(frozen=True)
class Story:
    """What an agent asked for, and what a person, or a robot, posted."""

    fields: Sequence[dict[str, Any]]
    typed: dict[str, str]
    expected: dict[str, Any]
    """Values that are certain, by field."""
    unknown: dict[str, str]
    note: str
    answered_by: str
    outcome: str

    @property
    def attempts(self) -> int:
        """How many texts may try to forge a line."""
        labels = sum(bool(field["label"]) for field in self.fields)
        return labels + len(self.typed) + 2 * len(self.unknown) + 2

    def body(self) -> bytes:
        """As a browser encodes a form; lone surrogates as no browser would."""
        pairs = [
            (f"value.{name}", text) for name, text in [*self.typed.items(), *self.unknown.items()]
        ]
        pairs += [
            ("submission_id", "s" * 22),
            ("note", self.note),
            ("answered_by", self.answered_by),
            ("outcome", self.outcome),
            ("send_anyway", "1"),
            ("confirmed", "1"),
        ]
        return "&".join(f"{_encoded(key)}={_encoded(text)}" for key, text in pairs).encode()


def as_read(text: str) -> str:
    """What the desk reads of a text that was posted: what cannot be stored is replaced."""
    return readable(text.encode("utf-8", "surrogatepass").decode("utf-8", "replace"))


def _encoded(text: str) -> str:
    return quote_plus(text, errors="surrogatepass")


HOSTILE: Final = st.one_of(
    TEXTS,
    st.sampled_from(PIECES),
    st.tuples(st.text(max_size=3), st.sampled_from(PIECES), st.text(max_size=3)).map("".join),
    st.sampled_from(["y" * 4001, "z" * 20_001, "1_000", "0x1", "on", "//evil.example"]),
)


@st.composite
def stories(draw: st.DrawFn) -> Story:
    names = draw(st.lists(NAMES, min_size=3, max_size=8, unique_by=str.lower))
    fields, typed, expected = [], {}, {}
    for name in names:
        kind = draw(st.sampled_from(FieldType))
        fields.append(_field(name, kind, label=draw(TEXTS), required=draw(st.booleans())))
        match draw(st.sampled_from(("right", "hostile", "hostile", "nothing"))):
            case "right":
                typed[name], expected[name] = draw(st.sampled_from(TYPED[kind]))
            case "hostile":
                typed[name] = draw(HOSTILE)
    lower = {name.lower() for name in names}
    unknown = draw(
        st.dictionaries(HOSTILE.filter(lambda n: n.lower() not in lower), HOSTILE, max_size=3)
    )
    return Story(
        fields=fields,
        typed=typed,
        expected=expected,
        unknown={name[:300]: text for name, text in unknown.items()},
        note=draw(HOSTILE),
        answered_by=draw(HOSTILE),
        outcome=draw(st.sampled_from(["resolved", "unresolved", "declined", "", "[x]"])),
    )


def _field(name: str, kind: FieldType, *, label: str, required: bool) -> dict[str, Any]:
    return {
        "name": name,
        "type": kind,
        "enum_values": list(CHOICES) if kind is FieldType.ENUM else None,
        "label": scrub(label)[: limits.FIELD_LABEL_MAX].strip(),
        "required": required,
    }


@dataclasses.dataclass
class Desk:
    """One agent with a conversation, asked over and over."""

    agent: Agent
    channel: Channel
    talk: Conversation
    browser: Client
    asked: int = 0

    @classmethod
    def open(cls) -> "Desk":
        agent = factories.AgentFactory.create()
        channel = factories.inbox_channel(agent, label="Shop [team]\u2028 • x")
        Channel.objects.update(contact_limit_per_hour=10**6)
        browser = Client(raise_request_exception=False, enforce_csrf_checks=True)
        return cls(agent, channel, factories.conversation(agent), browser)

    def ask(self, story: Story) -> Session:
        if self.asked % TALK_LENGTH == 0:
            self.talk = factories.conversation(self.agent, f"visitor-{self.asked}")
        self.asked += 1
        return factories.requested(
            self.agent, self.channel, self.talk, expected_return=list(story.fields)
        )

    def post(self, session: Session, story: Story) -> tuple[int, str]:
        """Status and page of the posted form."""
        path = f"/r/{links.return_token(session.links.get().link_id)}/"
        answer = self.browser.generic(
            "POST", path, story.body(), content_type="application/x-www-form-urlencoded"
        )
        self.browser.cookies.clear()
        return answer.status_code, answer.content.decode()

    def said(self, session: Session) -> str:
        """The note, as it stands in the conversation."""
        return self.talk.messages.get(session=session, author="system").text
