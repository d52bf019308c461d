"""Reads what an owner looks for out of the address of the list; nonsense is as good as nothing."""

from django.http import QueryDict

from handoff.contract.kinds import Urgency
from handoff.contract.text import readable
from handoff.selectors.inboxfilters import SEARCH_MAX, Wanted, Who


def read(query: QueryDict) -> Wanted:
    urgency, who = query.get("urgency", ""), query.get("who", "")
    return Wanted(
        search=readable(query.get("q", "")).strip()[:SEARCH_MAX],
        agent=number(query.get("agent", "")),
        channel=number(query.get("channel", "")),
        urgency=Urgency(urgency) if urgency in list(Urgency) else None,
        who=Who(who) if who in list(Who) else None,
    )


def number(text: str) -> int | None:
    """A number that the database can hold; None for anything else."""
    fits = text.isascii() and text.isdecimal() and len(text) < len(str(2**63))
    return int(text) if fits else None
