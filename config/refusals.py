"""What the door answers itself: to a program by the contract, to a person in words."""

import asyncio
import dataclasses
import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from audit import spool
from handoff.contract.answers import DESK_FAULT
from handoff.errors import DeskUnavailable, Malformed, TooLarge
from handoff.realtime.wire import HTML, JSON, TEXT, Headers, Scope, Send, answer, as_json
from handoff.realtime.wire import headers as headers_of
from returnforms import headers, outage

if TYPE_CHECKING:
    from wsgiref.types import StartResponse

MACHINE_DOORS: Final = ("/api/", "/mcp", "/hooks/")
TOOL_DOORS: Final = frozenset({"/api/v1/tool-calls", "/api/agent-tools/call"})
FORMS: Final = "/r/"


NOT_LISTED: Final = (b"x-robots-tag", b"noindex")
_ORIGIN: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://[^/?]*")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Refusal:
    """What is wrong with a request that reaches no view; nothing in it names the request."""

    status: HTTPStatus
    code: str
    sentence: str
    """For a program."""
    said: str
    """For a person."""
    retry_after: int = 0
    """Seconds; 0 where trying again is no use by itself."""


TOO_LARGE: Final = Refusal(
    status=HTTPStatus(TooLarge.status),
    code=TooLarge.code,
    sentence=TooLarge().sentence,
    said="That is too much to send at once.",
)
TOO_SLOW: Final = Refusal(
    status=HTTPStatus.REQUEST_TIMEOUT,
    code="too_slow",
    sentence="The call came too slowly.",
    said="That came too slowly. Nothing was sent; please try again.",
)
FULL: Final = Refusal(
    status=HTTPStatus.SERVICE_UNAVAILABLE,
    code="busy",
    sentence="Too much is on its way just now. Try again in a minute.",
    said="Too much is on its way just now. Please try again in a minute.",
    retry_after=60,
)
MALFORMED: Final = Refusal(
    status=HTTPStatus(Malformed.status),
    code=Malformed.code,
    sentence="The content type can't be read.",
    said="This could not be read. Please go back and try again.",
)
FAULT: Final = Refusal(
    status=HTTPStatus.INTERNAL_SERVER_ERROR,
    code="desk_fault",
    sentence=DESK_FAULT,
    said="Something went wrong. It has been written down; please try again.",
)


async def too_large(scope: Scope, send: Send) -> None:
    """413."""
    kind, body, extra = _words(TOO_LARGE, scope["path"])
    await answer(send, TOO_LARGE.status, body, kind=kind, extra=extra)


def unread(why: Refusal, target: str) -> bytes:
    """The bytes of a whole answer to a request that is not read to its end.

    `target` is what its first line asks for, "" when that is not known yet: only a program sends
    such a thing.
    """
    path = unquote(_ORIGIN.sub("", target, count=1).partition("?")[0]) or MACHINE_DOORS[0]
    kind, body, extra = _words(why, path)
    lines = [
        f"HTTP/1.1 {why.status} {why.status.phrase}".encode(),
        b"connection: close",
        b"content-length: %d" % len(body),
        *(b": ".join(pair) for pair in headers_of(kind, extra)),
    ]
    return b"\r\n".join([*lines, b"", body])


def whole(why: Refusal, path: str) -> tuple[Headers, bytes]:
    """Headers and body of an answer that the server gives in place of an application's."""
    kind, body, extra = _words(why, path)
    return [(b"content-length", b"%d" % len(body)), *headers_of(kind, extra)], body


def begun(why: Refusal, path: str, start_response: "StartResponse") -> list[bytes]:
    """The answer of a WSGI application."""
    kind, body, extra = _words(why, path)
    pairs = [(name.decode(), value.decode()) for name, value in headers_of(kind, extra)]
    start_response(f"{why.status} {why.status.phrase}", pairs)
    return [body]


def _words(why: Refusal, path: str) -> tuple[bytes, bytes, Headers]:
    """The content type, the body and further headers."""
    retry = [(b"retry-after", b"%d" % why.retry_after)] if why.retry_after else []
    if for_program(path):
        return JSON, as_json({"error": why.sentence, "code": why.code}), retry
    return TEXT, f"{why.said}\n".encode(), [*retry, NOT_LISTED]


async def busy(scope: Scope, send: Send, body: bytes) -> None:
    """503: no thread was free in time. A posted return form comes back with what was typed."""
    problem = DeskUnavailable()
    retry = [(b"retry-after", str(problem.retry_after).encode())]
    if for_program(scope["path"]):
        words = as_json({"error": problem.sentence, "code": problem.code})
        await answer(send, problem.status, words, extra=retry)
        if scope["path"] in TOOL_DOORS:  # a disk may be slow: not on the loop
            await asyncio.get_running_loop().run_in_executor(None, spool.keep, "no_thread")
    elif scope["method"] == "POST" and scope["path"].startswith(FORMS):
        page = outage.kept(scope["path"], body)
        csp = headers.CSP.encode()
        more = [*retry, NOT_LISTED]
        await answer(send, problem.status, page, kind=HTML, csp=csp, extra=more)
    else:
        words = b"The desk is busy just now. Nothing was lost or sent; please try again shortly.\n"
        await answer(send, problem.status, words, kind=TEXT, extra=[*retry, NOT_LISTED])


def for_program(path: str) -> bool:
    """Does a program knock there? Else a person reads the answer."""
    return path.startswith(MACHINE_DOORS)
