"""Discord's markdown: our messages written in it, and what people type there read back.

https://support.discord.com/hc/en-us/articles/210298617 and the reference's "Message Formatting".
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from django.utils.translation import gettext

from handoff.transports.base import Closed, Line, Notice, Outgoing, Request
from handoff.transports.chat_text import Dialect
from handoff.transports.email_clip import one_row
from handoff.transports.recipient_place import place

CONTENT_MAX: Final = 2000
THREAD_NAME_MAX: Final = 100
NONCE_MAX: Final = 25
BUTTON_URL_MAX: Final = 512
_AS_IT_IS: Final = re.compile(r"https?://[A-Za-z0-9][A-Za-z0-9\-._~:/?#@!$&'(),;=%+]*")
"""An address in which Discord's reader sees nothing but an address."""
_SIGN: Final = re.compile(r"[\\*_~`|<>\[\]]|:(?=//|[\w~+-]+:)|@(?=everyone|here)")
_MARKUP: Final = re.compile(
    r"(?P<url>(?<!\w)https?://\S+)"
    r"|(?P<start>^[ \t]*(?:[#+-]|[0-9]+(?=\.)))"  # a heading, a list, small print
    rf"|(?P<sign>{_SIGN.pattern})",
    re.MULTILINE,
)
_MARK: Final = re.compile(r"<(?:@[!&]?|#|a?:(?P<emoji>\w{1,32}):|@\$)(?P<id>[0-9]{1,20})>")


class Markdown(Dialect):
    """The markdown of a message's `content`."""

    def __init__(self, limit: int = CONTENT_MAX) -> None:
        self.limit = limit  # type: ignore[misc]  # a message that was refused is tried shorter

    def escape(self, text: str) -> str:
        return _MARKUP.sub(_escaped, text)

    def bold(self, escaped: str) -> str:
        return f"**{escaped}**"

    def code(self, escaped: str) -> str:
        return f"`{escaped}`"

    def link(self, url: str, escaped_label: str) -> str:
        """The address in full: who forwards the message forwards the link."""
        return f"{escaped_label}: <{url}>"

    def quote(self, escaped: str) -> str:
        return "\n".join(f"> {line}" for line in escaped.split("\n"))


def _escaped(found: re.Match[str]) -> str:
    if (url := found["url"]) is not None:
        # with a backslash after the scheme it is no address, but letters like any others
        return url if _AS_IT_IS.fullmatch(url) else _SIGN.sub(r"\\\g<0>", url)
    if (start := found["start"]) is not None:
        return f"{start}\\" if start[-1].isdigit() else f"{start[:-1]}\\{start[-1]}"
    return f"\\{found['sign']}"


def thread_name(message: Request | Line | Closed) -> str:
    """At most THREAD_NAME_MAX characters, on one row; a name has no markup."""
    agent = one_row(message.agent_name)[:40]
    with place(message.language, message.timezone):
        if isinstance(message, Request):
            what = one_row(message.expected_action)
            name = gettext("%(agent)s asks: %(what)s") % {"agent": agent, "what": what}
        else:
            name = gettext("%(agent)s: the handoff goes on") % {"agent": agent}
    while Markdown().measure(name) > THREAD_NAME_MAX:
        name = f"{name[:-2].rstrip()}…"
    return name


def nonce(message: Outgoing) -> str:
    """The same for the same message, and for no other: Discord drops a repeat for some minutes."""
    if isinstance(message, Notice):
        named = f"{message.place} {message.answers} {message.text}"
    else:
        named = f"{message.session} {message.number}"
    return hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:NONCE_MAX]


def button(message: Outgoing) -> list[dict[str, Any]]:
    """The form as a button; empty where Discord would refuse the address, or there is none."""
    if isinstance(message, Line | Notice):
        return []
    host = urlsplit(message.return_url).hostname or ""
    if "." not in host or len(message.return_url) > BUTTON_URL_MAX:
        return []
    with place(message.language, message.timezone):
        label = (
            gettext("Fill return form") if isinstance(message, Request) else gettext("Return form")
        )
    link = {"type": 2, "style": 5, "label": label[:80], "url": message.return_url}
    return [{"type": 1, "components": [link]}]


def readable(text: str, names: Mapping[str, str]) -> str:
    """What a person typed, with marks as words; `names` are those of people, by their id."""

    def words(mark: re.Match[str]) -> str:
        if mark["emoji"]:
            return f":{mark['emoji']}:"
        if mark.group().startswith("<#"):
            return "#" + names.get(mark["id"], mark["id"])
        return "@" + names.get(mark["id"], mark["id"])

    return _MARK.sub(words, text)
