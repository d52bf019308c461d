"""System checks: what is configured wrong is said at the start, with what to do about it."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning  # noqa: A004  (Django's own name)

from handoff.actions import routes
from handoff.outbound.targets import Allowed


def check_route(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """The route of `ask_a_person` can be used. Its own code is imported for that."""
    found: list[CheckMessage] = []
    try:
        routes.load(settings.ROUTE)
    except ValueError as problem:
        found.append(
            Error(
                f"HANDOFF_ROUTE names {settings.ROUTE}, which {problem}.",
                hint="Name a callable route(question, *, agent, conversation, deadline) by its "
                "dotted path, such as rota.ask; docs/routes.md shows one. Unset HANDOFF_ROUTE to "
                "put questions to the person in the conversation.",
                id="handoff.E001",
            )
        )
    if settings.ROUTE_PLACES < 1:
        found.append(
            Error(
                f"HANDOFF_ROUTE_PLACES is {settings.ROUTE_PLACES}: no route could ever run.",
                hint="Set it to 1 or more; the default is 4.",
                id="handoff.E002",
            )
        )
    if settings.ROUTE_SECONDS <= 0:
        found.append(
            Error(
                f"HANDOFF_ROUTE_SECONDS is {settings.ROUTE_SECONDS:g}: no route could ever answer.",
                hint="Set it to the seconds that a route may take; the default is 10.",
                id="handoff.E003",
            )
        )
    elif settings.ROUTE_SECONDS > settings.CALL_SECONDS - 1:
        found.append(
            Warning(
                f"HANDOFF_ROUTE_SECONDS is {settings.ROUTE_SECONDS:g}, but a whole call ends after "
                f"HANDOFF_CALL_SECONDS, {settings.CALL_SECONDS:g}, and needs one for itself.",
                hint="Lower the first or raise the second; a call is never waited for longer.",
                id="handoff.W004",
            )
        )
    return found


def check_private_targets(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """Each entry of HANDOFF_PRIVATE_TARGETS is a host or a network."""
    return [
        Error(
            f"HANDOFF_PRIVATE_TARGETS holds {entry}, which is no host, address or network.",
            hint="Write a host as in its channel's URL, an address, or a network such as "
            "10.1.2.0/24; a port or a scheme does not belong there.",
            id="handoff.E005",
        )
        for entry in Allowed.read(settings.PRIVATE_TARGETS).unreadable
    ]
