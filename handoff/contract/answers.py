"""The sentences that a model reads. Every one says what is true about the person, and no more."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from handoff.contract.kinds import ChannelKind

_KIND_WORDS: dict[str, str] = {
    ChannelKind.EMAIL: "email",
    ChannelKind.TELEGRAM: "Telegram",
    ChannelKind.SLACK: "Slack",
    ChannelKind.DISCORD: "Discord",
    ChannelKind.WHATSAPP: "WhatsApp",
    ChannelKind.OWNER_INBOX: "owner inbox",
    ChannelKind.AGENT: "sibling agent",
}
DESK_FAULT = (
    "The desk failed while it worked on this call. It is not known whether anybody was asked; "
    "do not say that they were."
)

NOBODY_ASKED = (
    "Nobody could be asked: the way to a person gave no word that anyone was reached. "
    "Do not say that anyone was asked."
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Answer:
    """What a tool call comes back with: a sentence for the model and data for the program."""

    text: str
    is_error: bool
    result: dict[str, Any]
    replayed: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class ChannelName:
    """A channel as the tool description and the hints list it."""

    id: int
    kind: str
    label: str
    estimated_response: str

    @property
    def by(self) -> str:
        """The kind in words; a deployment's own kind by its key."""
        return _KIND_WORDS.get(self.kind, self.kind.replace("_", " "))

    def __str__(self) -> str:
        words = self.by
        if self.estimated_response:
            words += f", usually {self.estimated_response}"
        return f"{self.id}: {self.label} ({words})"


def handed_over(channel: ChannelName, *, detached: bool) -> str:
    notified = (
        "it is in their inbox" if channel.kind == ChannelKind.OWNER_INBOX else "they were notified"
    )
    usually = (
        f", and usually reply {channel.estimated_response}" if channel.estimated_response else ""
    )
    if usually and channel.kind == ChannelKind.OWNER_INBOX:
        usually = f", and they usually reply {channel.estimated_response}"
    sentence = f"Handed to {channel.label} by {channel.by}; {notified}{usually}."
    if detached:
        return f"{sentence} Ask handoff_status for the answer."
    return (
        f"{sentence} Until this handoff is released the visitor's messages go to them, not to you. "
        "After that you get a note that begins with [Bot resumed, and the visitor is yours again."
    )


def already_open(channel: ChannelName) -> str:
    return (
        f"This conversation is already handed to {channel.label}; nobody was asked a second time. "
        "Until that handoff is released the visitor's messages go to them, not to you."
    )


def not_reached(label: str, hint: str) -> str:
    return (
        f"Nobody could be asked: the {label} channel did not accept the message. "
        f"Do not say that somebody is looking into it. {hint}"
    )


def maybe_reached(label: str) -> str:
    return (
        f"It is not known whether {label} was reached. Do not say that they were. "
        "If they answer, you get a note that begins with [Late return. You may try another channel."
    )


def other_channels(others: Sequence[ChannelName]) -> str:
    if not others:
        return "No other channel is available now."
    return "Other channels you may try: " + "; ".join(map(str, others)) + "."


def put_to(who: str) -> Answer:
    """What `ask_a_person` answers when its route reached somebody."""
    return Answer(
        text=f"Your question was put to {who}. That is not an answer yet: do not say that they "
        "have answered.",
        is_error=False,
        result={"ok": True, "action": "question_put", "asked": who},
    )


def nobody_asked() -> Answer:
    """What `ask_a_person` answers when its route failed in whatever way."""
    return Answer(
        text=NOBODY_ASKED,
        is_error=True,
        result={"error": NOBODY_ASKED, "code": "dispatch_failed", "details": {}},
    )


def refused(code: str, sentence: str, details: Mapping[str, Any]) -> Answer:
    return Answer(
        text=f"Refused. {sentence}",
        is_error=True,
        result={"error": sentence, "code": code, "details": dict(details)},
    )


def desk_fault() -> Answer:
    return Answer(
        text=DESK_FAULT,
        is_error=True,
        result={"error": DESK_FAULT, "code": "desk_fault", "details": {}},
    )
