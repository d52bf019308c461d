"""Who may do what here, and that it changed: `access.changed` on the trail."""

from collections.abc import Mapping, Sequence

import audit.trail
from audit.trail import Detail


def note_access(
    what: str,
    *,
    actor: str,
    agent: str = "",
    fields: Sequence[str] = (),
    facts: Mapping[str, Detail] | None = None,
) -> None:
    """One row, inside the transaction of the change.

    `what` is such as `agent changed` or `user added`; `fields` names what changed. `facts` holds
    ids, flags and addresses of sites, before and after where there is a before; never a name of a
    person or a password.
    """
    audit.trail.record(
        "access.changed",
        actor=actor,
        agent=agent,
        reason=what,
        details={"fields": list(fields), **(facts or {})},
    )
