"""What the tools share when they read their arguments."""

from collections.abc import Sequence

from handoff.errors import Refused


def invalid(problems: Sequence[dict[str, str]]) -> Refused:
    """The refusal that names every problem at once; each is `{"field": …, "problem": …}`."""
    listed = "; ".join(f"{item['field']} {item['problem']}" for item in problems)
    return Refused(
        "invalid_arguments",
        f"The arguments can't be used: {listed}. Correct them and call again; nobody was asked.",
        details={"problems": list(problems)},
    )
