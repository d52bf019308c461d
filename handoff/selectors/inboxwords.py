"""What an owner reads about the state of a handoff, in the language of the page."""

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from handoff.contract import answers
from handoff.contract.kinds import (
    AttemptStatus,
    Author,
    ChannelKind,
    Outcome,
    ReleaseKind,
    SessionStatus,
    TransportErrorKind,
    Urgency,
)
from handoff.contract.text import visible
from handoff.models import Attempt, Session

KINDS: dict[str, Promise] = {
    ChannelKind.EMAIL: gettext_lazy("email"),
    ChannelKind.TELEGRAM: gettext_lazy("Telegram"),
    ChannelKind.SLACK: gettext_lazy("Slack"),
    ChannelKind.DISCORD: gettext_lazy("Discord"),
    ChannelKind.WHATSAPP: gettext_lazy("WhatsApp"),
    ChannelKind.OWNER_INBOX: gettext_lazy("owner inbox"),
    ChannelKind.AGENT: gettext_lazy("sibling agent"),
}
URGENCIES: dict[str, Promise] = {
    Urgency.HIGH: gettext_lazy("High urgency"),
    Urgency.NORMAL: gettext_lazy("Normal urgency"),
    Urgency.LOW: gettext_lazy("Low urgency"),
}
OUTCOMES: dict[str, Promise] = {
    Outcome.RESOLVED: gettext_lazy("resolved"),
    Outcome.UNRESOLVED: gettext_lazy("could not be resolved"),
    Outcome.DECLINED: gettext_lazy("not theirs to answer"),
}
AUTHORS: dict[str, Promise] = {
    Author.SUBSCRIBER: gettext_lazy("Subscriber"),
    Author.AGENT: gettext_lazy("Agent"),
    Author.PERSON: gettext_lazy("Person"),
    Author.SIBLING: gettext_lazy("Sibling agent"),
    Author.SYSTEM: gettext_lazy("System"),
}
_STATES: dict[str, Promise] = {
    SessionStatus.DISPATCHING: gettext_lazy("Being sent"),
    SessionStatus.ACTIVE: gettext_lazy("Active"),
    SessionStatus.FAILED: gettext_lazy("Failed: nobody was reached"),
    SessionStatus.UNKNOWN: gettext_lazy("Unknown: it may have arrived"),
}
_RELEASES: dict[str, Promise] = {
    ReleaseKind.FORM: gettext_lazy("Answered"),
    ReleaseKind.TOKEN: gettext_lazy("Released by the recipient"),
    ReleaseKind.AGENT: gettext_lazy("Released by the sibling agent"),
    ReleaseKind.OWNER: gettext_lazy("Released by an owner"),
    ReleaseKind.SUBSCRIBER: gettext_lazy("The subscriber went back to the agent"),
    ReleaseKind.IDLE_TIMEOUT: gettext_lazy("Ended: nothing was heard from the recipient"),
    ReleaseKind.CANCELLED: gettext_lazy("Cancelled"),
    ReleaseKind.UNDELIVERABLE: gettext_lazy("Ended: the message came back"),
    ReleaseKind.LOST: gettext_lazy("Ended: the sibling agent was lost"),
    ReleaseKind.EXPIRED: gettext_lazy("Ended: the form closed without an answer"),
}
_CAUSES: dict[str, Promise] = {
    TransportErrorKind.AUTH: gettext_lazy("The provider refused the channel's credentials."),
    TransportErrorKind.PERMISSION: gettext_lazy("The channel lacks a permission."),
    TransportErrorKind.NOT_FOUND: gettext_lazy("The provider does not know the address."),
    TransportErrorKind.RECIPIENT_UNREACHABLE: gettext_lazy("The recipient cannot be reached."),
    TransportErrorKind.WINDOW_CLOSED: gettext_lazy("The time for messages to them has passed."),
    TransportErrorKind.TOO_LONG: gettext_lazy("The message was too long for the provider."),
    TransportErrorKind.BAD_FORMAT: gettext_lazy("The provider could not read the message."),
    TransportErrorKind.RATE_LIMITED: gettext_lazy("The provider was asked too often."),
    TransportErrorKind.TRANSIENT: gettext_lazy("The provider was out of order for the moment."),
    TransportErrorKind.CONNECT: gettext_lazy("The provider could not be connected to."),
    TransportErrorKind.UNKNOWN_OUTCOME: gettext_lazy(
        "The provider was told, but did not say whether it took the message."
    ),
}


def state(session: Session) -> str:
    """Where the handoff stands, as one short sentence without a full stop."""
    if session.status != SessionStatus.RELEASED:
        return str(_STATES[session.status])
    said = _("Answered late") if session.late else str(_RELEASES[session.release])
    if session.outcome:
        return _("%(state)s: %(outcome)s") % {"state": said, "outcome": OUTCOMES[session.outcome]}
    return said


def told_the_agent(session: Session) -> str:
    """What the tool call answered, for a dispatch that failed or has no known outcome.

    Without its list of other channels, which is made anew for each answer.
    """
    if session.status == SessionStatus.FAILED:
        return answers.not_reached(visible(session.channel.label), "").strip()
    if session.status == SessionStatus.UNKNOWN:
        return answers.maybe_reached(visible(session.channel.label))
    return ""


def cause(session: Session, attempt: Attempt | None) -> str:
    """Why the dispatch failed or is not known to have worked; "" when it worked."""
    if attempt is None or session.status not in (SessionStatus.FAILED, SessionStatus.UNKNOWN):
        return ""
    words = str(_CAUSES[attempt.failure_kind]) if attempt.failure_kind in _CAUSES else ""
    return " ".join(filter(None, (words, visible(attempt.failure))))


def reached(session: Session, attempt: Attempt | None) -> str:
    """What is known about the message to the recipient while the handoff is active."""
    told = session.channel.kind == ChannelKind.OWNER_INBOX or attempt is None
    if told or session.status != SessionStatus.ACTIVE or attempt is None:
        return ""
    if attempt.delivery == "read":
        return _("opened by a person")
    if attempt.delivery == "delivered":
        return _("delivered, not opened yet")
    if attempt.status == AttemptStatus.ACCEPTED:
        return _("accepted by the provider, not opened yet")
    return ""
