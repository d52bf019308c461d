"""The named points of the flow at which the server kills itself: SIGKILL, nothing is tidied up.

The file that `TEST_KILL_FILE` names holds the point that is armed; reaching it removes the file,
so that the next start on the same data goes on. The product knows nothing of this: its functions
are wrapped where their callers look them up.
"""

import functools
import os
import signal
import time
from enum import StrEnum
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from handoff.actions import answer, dispatch, reconcile, relay, release, request

if TYPE_CHECKING:
    from collections.abc import Callable

VARIABLE: Final = "TEST_KILL_FILE"


class Point(StrEnum):
    BEFORE_INTENT = "before the intent"
    AFTER_INTENT = "after the commit of the intent"
    PROVIDER_HAS_IT = "while the provider has the message"
    """The provider's fake does this one: it stays silent, and the test kills."""
    AFTER_ACCEPT = "after the provider accepted, before the outcome"
    IN_OUTCOME = "in the middle of the transaction of the outcome"
    AFTER_OUTCOME = "after the commit of the outcome, before the answer"
    IN_RELEASE = "in the transaction of the release, before its commit"
    AFTER_RELEASE = "after the commit of the release, before the answer"
    AFTER_RELAY = "after the relay sent a line, before it wrote that down"
    IN_SWEEP = "in the sweep"


def install() -> None:
    if VARIABLE not in os.environ:
        return
    wrap(request, "_write_intent", before=Point.BEFORE_INTENT, after=Point.AFTER_INTENT)
    wrap(dispatch, "record_outcome", before=Point.AFTER_ACCEPT, after=Point.AFTER_OUTCOME)
    wrap(dispatch, "_trail", before=Point.IN_OUTCOME)
    wrap(release, "_tell", after=Point.IN_RELEASE)
    wrap(answer, "answer_form", after=Point.AFTER_RELEASE)
    wrap(relay, "_done", before=Point.AFTER_RELAY)
    wrap(reconcile, "record_outcome", before=Point.IN_SWEEP)


def reach(point: StrEnum | None) -> None:
    """End the process when this point is armed."""
    file = Path(os.environ[VARIABLE])
    if point is None or not file.exists() or file.read_text() != point:
        return
    file.unlink()
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


def wrap(
    module: ModuleType, name: str, *, before: StrEnum | None = None, after: StrEnum | None = None
) -> None:
    """End the process before or after a call of `name`, as its module looks it up."""
    plain: Callable[..., Any] = getattr(module, name)

    @functools.wraps(plain)
    def wrapped(*args: Any, **named: Any) -> Any:
        reach(before)
        result = plain(*args, **named)
        reach(after)
        return result

    setattr(module, name, wrapped)
