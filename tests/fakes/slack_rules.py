"""What Slack takes in a message, and what its readers make of it."""

import re
from collections.abc import Mapping
from typing import Any, Final

_MARK: Final = re.compile(r"<([^<>]*)>")
_ROOM: Final = re.compile(r"(?<!\w)@(?:everyone|channel|here)\b")


class Refused(Exception):
    def __init__(self, error: str, **more: Any) -> None:
        super().__init__(error)
        self.body = {"ok": False, "error": error, **more}


def check(text: object, blocks: list[dict[str, Any]]) -> None:
    if not text and not blocks:
        raise Refused("no_text")
    if not isinstance(text, str) or len(text) > 40_000:
        raise Refused("msg_too_long")
    if len(blocks) > 50:
        raise _invalid("no more than 50 items allowed [json-pointer:/blocks]")
    for number, block in enumerate(blocks):
        where = f"[json-pointer:/blocks/{number}/text/text]"
        if block.get("type") != "section" or block["text"]["type"] != "mrkdwn":
            raise _invalid(f"unsupported type {where}")
        size = len(block["text"]["text"].encode("utf-16-le")) // 2
        if size > 3000:
            raise _invalid(f"must be less than 3001 characters {where}")
        if not size:
            raise _invalid(f"must be more than 0 characters {where}")
    if sum(len(block["text"]["text"]) for block in blocks) > 11_000:
        raise Refused("msg_blocks_too_long")


def _invalid(words: str) -> Refused:
    return Refused("invalid_blocks", errors=[words], response_metadata={"messages": [words]})


class Reading:
    """What readers see of a message, whom it notifies and where its links lead."""

    def __init__(self, asked: Mapping[str, Any]) -> None:
        self.links: dict[str, str] = {}
        self.notified: list[str] = []
        finds_names = bool(asked.get("link_names")) or asked.get("parse") == "full"
        text = {"text": asked.get("text") or "", "verbatim": not finds_names}
        objects = [block["text"] for block in asked.get("blocks") or ()]
        for found in (text, *objects):
            self._notify(found["text"], by_name=not found.get("verbatim"))
        self.shown = "\n".join(self._read(found["text"]) for found in objects or [text])

    def _notify(self, text: str, *, by_name: bool) -> None:
        marks = [mark for mark in _MARK.findall(text) if mark.startswith(("@", "!"))]
        self.notified += marks + (_ROOM.findall(text) if by_name else [])

    def _read(self, text: str) -> str:
        words = _MARK.sub(self._mark, text)
        return words.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")

    def _mark(self, mark: re.Match[str]) -> str:
        target, _, label = mark[1].partition("|")
        self.links[label or target] = target.replace("&amp;", "&")
        return label or target
