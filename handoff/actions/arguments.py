"""What the tools share when they read their arguments."""

from collections.abc import Sequence
from typing import Final

from handoff.errors import Refused

_CONSEQUENCE: Final = {
    "handoff_cancel": "; nothing was cancelled",
    "handoff_status": "",
}
"""What did not happen; of every other tool, that nobody was asked."""


def invalid(problems: Sequence[dict[str, str]], *, tool: str) -> Refused:
    """The refusal that names every problem at once; each is `{"field": …, "problem": …}`."""
    listed = "; ".join(f"{item['field']} {item['problem']}" for item in problems)
    consequence = _CONSEQUENCE.get(tool, "; nobody was asked")
    return Refused(
        "invalid_arguments",
        f"The arguments can't be used: {listed}. Correct them and call again{consequence}.",
        details={"problems": list(problems)},
    )
