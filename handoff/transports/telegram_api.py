"""One call to the Bot API. The token is a part of the address, which nobody may log."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from django.conf import settings

from handoff.outbound.http import HttpAnswer, call
from handoff.transports.telegram_errors import Refusal, refusal


@dataclasses.dataclass(frozen=True)
class Done:
    """What a call brought: an object, a list or True."""

    result: Any
    answer: HttpAnswer

    def get(self, key: str) -> Any:
        """A member of the object; None when there is none."""
        return self.result.get(key) if isinstance(self.result, dict) else None


def ask(
    bot_token: str,
    method: str,
    parameters: Mapping[str, Any],
    *,
    deadline: float,
    sends: bool = False,
) -> Done | Refusal:
    """Call `method` before `deadline` (`time.monotonic()`); `sends` as for http.unclear.

    Raises TransportError when no whole answer came.
    """
    answer = call(
        "POST",
        f"{settings.TELEGRAM_API_BASE}/bot{bot_token}/{method}",
        deadline=deadline,
        json=dict(parameters),
        secrets=(bot_token, str(parameters.get("secret_token", ""))),
    )
    said = answer.json() or {}
    if answer.status == 200 and said.get("ok") is True and "result" in said:
        return Done(said["result"], answer)
    return refusal(answer, sends=sends)
