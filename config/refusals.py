"""What the door answers itself: to a program by the contract, to a person in words."""

import asyncio
from typing import Final

from audit import spool
from handoff.errors import DeskUnavailable, TooLarge
from handoff.realtime.wire import HTML, TEXT, Scope, Send, answer, as_json
from returnforms import headers, outage

MACHINE_DOORS: Final = ("/api/", "/mcp", "/hooks/")
TOOL_DOORS: Final = frozenset({"/api/v1/tool-calls", "/api/agent-tools/call"})
FORMS: Final = "/r/"


async def too_large(scope: Scope, send: Send) -> None:
    """413."""
    problem = TooLarge()
    if _for_program(scope):
        body = as_json({"error": problem.sentence, "code": problem.code})
        await answer(send, problem.status, body)
    else:
        await answer(send, problem.status, b"That is too much to send at once.\n", kind=TEXT)


async def busy(scope: Scope, send: Send, body: bytes) -> None:
    """503: no thread was free in time. A posted return form comes back with what was typed."""
    problem = DeskUnavailable()
    retry = [(b"retry-after", str(problem.retry_after).encode())]
    if _for_program(scope):
        words = as_json({"error": problem.sentence, "code": problem.code})
        await answer(send, problem.status, words, extra=retry)
        if scope["path"] in TOOL_DOORS:  # a disk may be slow: not on the loop
            await asyncio.get_running_loop().run_in_executor(None, spool.keep, "no_thread")
    elif scope["method"] == "POST" and scope["path"].startswith(FORMS):
        page = outage.kept(scope["path"], body)
        csp = headers.CSP.encode()
        await answer(send, problem.status, page, kind=HTML, csp=csp, extra=retry)
    else:
        words = b"The desk is busy just now. Nothing was lost or sent; please try again shortly.\n"
        await answer(send, problem.status, words, kind=TEXT, extra=retry)


def _for_program(scope: Scope) -> bool:
    return str(scope["path"]).startswith(MACHINE_DOORS)
