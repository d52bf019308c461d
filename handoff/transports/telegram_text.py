"""Telegram's HTML mode: our messages written in it.

https://core.telegram.org/bots/api#html-style. Only `<`, `>`, `&` and, in an attribute, `"` mean
something there; the modes called Markdown have eighteen such characters, and none is used.
"""

import html
import ipaddress
import re
from typing import ClassVar, Final
from urllib.parse import urlsplit

from handoff.transports.chat_text import Dialect, Plain

TEXT_MAX: Final = 4096
"""After the markup is taken out; before, which is longer, is what we count."""
PLAIN_MAX: Final = 3500
"""Of what is left to try when a message was refused for its form or its length."""
_JOINER: Final = "\u2060"
_MENTION: Final = re.compile(r"(?<!\w)@(?=[A-Za-z0-9_])")


class TelegramHtml(Dialect):
    limit: ClassVar[int] = TEXT_MAX

    def escape(self, text: str) -> str:
        return html.escape(unmentioned(text), quote=False)

    def bold(self, escaped: str) -> str:
        return f"<b>{escaped}</b>"

    def code(self, escaped: str) -> str:
        return f"<code>{escaped}</code>"

    def link(self, url: str, escaped_label: str) -> str:
        """A label that leads there, or the bare address where Telegram would drop the link."""
        if opens(url):
            return f'<a href="{html.escape(url)}">{escaped_label}</a>'
        return f"{escaped_label}: {html.escape(url, quote=False)}"

    def quote(self, escaped: str) -> str:
        return f"<blockquote>{escaped}</blockquote>"


class TelegramPlain(Plain):
    """The same without any markup."""

    def __init__(self) -> None:
        super().__init__(PLAIN_MAX)

    def escape(self, text: str) -> str:
        return unmentioned(text)


def unmentioned(text: str) -> str:
    """A text in which no name rings: an invisible character stands between `@` and the name.

    Mail addresses stay as they are, so that they can be copied.
    """
    return _MENTION.sub("@" + _JOINER, text)


def opens(url: str) -> bool:
    """Whether Telegram takes this address for a link or a button: not one like `localhost`, and
    one bad button refuses the whole message (rubenlagus/TelegramBots#302).
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or " " in url:
        return False
    return "." in host.strip(".") or _is_address(host)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
