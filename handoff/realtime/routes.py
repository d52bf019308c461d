"""Which consumer answers which path."""

from typing import Final

from handoff.realtime import wire
from handoff.realtime.agent import AgentSocket
from handoff.realtime.chat import ChatSocket
from handoff.realtime.inbox import InboxSocket
from handoff.realtime.sockets import NoSocket
from handoff.realtime.waiting import WaitEvents, WaitHandoff, WaitStream

_HANDOFF: Final = "/api/v1/wait/handoffs/"
_wait_handoff: Final[wire.App] = WaitHandoff.as_asgi()
_WAITING: Final[dict[str, wire.App]] = {
    "/api/v1/wait/events": WaitEvents.as_asgi(),
    "/api/v1/wait/stream": WaitStream.as_asgi(),
}
_no_socket: Final[wire.App] = NoSocket.as_asgi()
_SOCKETS: Final[dict[str, wire.App]] = {
    "/ws/agent": AgentSocket.as_asgi(),
    "/ws/chat": ChatSocket.as_asgi(),
    "/ws/inbox": InboxSocket.as_asgi(),
}


def waiting(path: str) -> wire.App | None:
    """The waiting route of a path, or None: then it is one of the pages."""
    if path.startswith(_HANDOFF) and path != _HANDOFF and "/" not in path[len(_HANDOFF) :]:
        return _wait_handoff
    return _WAITING.get(path)


def socket(path: str) -> wire.App:
    """The socket of a path; for any other path one that says so and closes."""
    return _SOCKETS.get(path, _no_socket)
