"""The seam for a deployment's own way to a person: one callable, and the two things it may say."""

import dataclasses
from collections.abc import Awaitable
from typing import Protocol


@dataclasses.dataclass(frozen=True)
class Reached:
    """Somebody was asked. `who` completes the sentence `Your question was put to …`."""

    who: str


@dataclasses.dataclass(frozen=True)
class Refusal:
    """Nobody was asked, and why: one sentence, which the agent reads as it is."""

    sentence: str


type Said = Reached | Refusal


class Route(Protocol):
    """What the setting `HANDOFF_ROUTE` names; a function or an `async` one.

    `agent` is the agent's name, `conversation` the public id (`c_…`) or None for a call without
    one, `deadline` a `time.monotonic()` after which nobody waits for the answer. It runs on a
    thread of its own. Whatever it throws goes to the audit trail, never to the agent.
    """

    def __call__(
        self, question: str, /, *, agent: str, conversation: str | None, deadline: float
    ) -> Said | Awaitable[Said]: ...
