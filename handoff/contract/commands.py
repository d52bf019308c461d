"""The one command that a recipient types: `/release TOKEN`, at the beginning of a reply.

`!release` and `release` mean the same: some chats keep a slash for themselves. A token is of
letters and digits that no chat formats and no phone changes (`handoff.contract.ids`).
"""

import dataclasses
import re
from typing import Final

_COMMAND: Final = re.compile(
    r"[/!]?release(@[A-Za-z0-9_]{3,64})?[ \t]+(?P<token>h7[a-z2-7]{16})"
    r"(?:[.,]?[ \t]+(?P<note>.*))?[.,]?",
    re.ASCII | re.IGNORECASE,
)
_MEANT: Final = re.compile(r"[/!]release(@[A-Za-z0-9_]{3,64})?(?![\w-])", re.ASCII | re.IGNORECASE)
_CAPABILITIES: Final = (
    (re.compile(r"\bh7[a-z2-7]{16}\b", re.ASCII | re.IGNORECASE), "h7***"),
    # also as a part of another address, as mail filters write it
    (re.compile(r"(/|%2F)r\1[a-z2-7]{26}\.[\w-]*", re.ASCII | re.IGNORECASE), r"\1r\1***"),
    # the signed part of an address that replies go to
    (
        re.compile(
            r"(?<![a-z0-9])[a-z2-7]{16,26}\.[a-z2-7]{16}(?=[a-z0-9+_.=-]{0,64}(?:@|%40))",
            re.ASCII | re.IGNORECASE,
        ),
        "***",
    ),
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReleaseCommand:
    """`token` is "" when a release was meant and no well-formed token follows."""

    token: str
    """In lower case."""
    note: str = ""
    """What stands after the token, in its line."""
    rest: str = ""
    """The lines after it, with those that are quoted."""
    bare: bool = False
    """The command stands alone in its line: it may mean the handoff in whose thread it is."""


def read_release(text: str) -> ReleaseCommand | None:
    """The command that a reply begins with; None for an ordinary message.

    Only the first line counts that is neither blank nor quoted: our own mail quotes the command.
    A bare `release` is a word like any other unless a token follows.
    """
    lines = text.replace("\u00a0", " ").splitlines()
    for number, line in enumerate(lines, start=1):
        said = _bare(line)
        if said and not said.startswith(">"):
            return _command(said, rest="\n".join(lines[number:]).strip())
    return None


def _command(said: str, *, rest: str) -> ReleaseCommand | None:
    found = _COMMAND.fullmatch(said)
    if found is not None:
        note = (found["note"] or "").strip()
        return ReleaseCommand(token=found["token"].lower(), note=note, rest=rest)
    meant = _MEANT.match(said)
    return ReleaseCommand(token="", rest=rest, bare=meant.end() == len(said)) if meant else None


def without_capabilities(text: str) -> str:
    """The text with its release tokens, return links and signed addresses made useless, such as in
    what is quoted: whoever reads it next was not asked.
    """
    for pattern, shown in _CAPABILITIES:
        text = pattern.sub(shown, text)
    return text


def _bare(line: str) -> str:
    """Without one pair of back-ticks around it."""
    line = line.strip()
    if len(line) > 1 and line[0] == line[-1] == "`":
        line = line[1:-1].strip()
    return line
