"""What the demo's bot understands and says. Plain rules; a real agent has a model here."""

import re
from typing import Any, Final

type Json = dict[str, Any]

NOBODY_THERE: Final = (
    "I can't look that up myself, and there is nobody I could ask right now. "
    "Please try again a little later."
)
_ORDER: Final = re.compile(r"\border\b\D{0,20}(\d{3,})", re.IGNORECASE)
_PEOPLE: Final = re.compile(
    r"\b(talk|speak|chat|write)\b.{0,20}\b(person|human|someone|somebody|people)\b", re.IGNORECASE
)
_HELLO: Final = re.compile(r"\s*(hi|hello|hey|good (morning|afternoon|evening))\b", re.IGNORECASE)
_THANKS: Final = re.compile(r"\b(thanks|thank you|cheers)\b", re.IGNORECASE)
_OWN_ID: Final = re.compile(r"demo-(\d+)(-wait)?")
_ENDED: Final = frozenset({"handoff.released", "handoff.cancelled", "handoff.late_return"})


def own_id(event: Json) -> str:
    """The id of what we say or ask because of an event: the same one each time."""
    return f"demo-{event['id']}"


def answered_by(message: Json, number: int) -> int:
    """Up to which event a line of the agent's answers its conversation.

    Ours say so; one that only asks for patience answers nothing. A line of another program of the
    same agent, event `number`, answers whatever came before it.
    """
    ours = _OWN_ID.fullmatch(message["client_id"] or "")
    if ours is None:
        return number
    return 0 if ours[2] else int(ours[1])


def wants_answer(event: Json) -> bool:
    """A visitor's line that is ours to answer, or a handoff that came back to us."""
    if event["type"] == "message.created":
        message = event["data"]["message"]
        return bool(message["author"] == "subscriber" and message["routed_to"] == "agent")
    return event["type"] in _ENDED and event["conversation"] is not None


def needs_people(text: str) -> bool:
    return bool(_ORDER.search(text) or _PEOPLE.search(text))


def small_talk(text: str) -> str:
    if _THANKS.search(text):
        return "You are welcome. Is there anything else?"
    opening = "Hello! I'm the shop's bot." if _HELLO.match(text) else "I'm only a small bot."
    return (
        f"{opening} I can find out about an order, for example “where is order 1234?”, or let you "
        "“talk to a person”."
    )


def choose(channels: list[Json]) -> Json | None:
    """The channel to ask: mail if it is there, else the first that is; None when there is none."""
    there = [channel for channel in channels if channel["available"]]
    mail = [channel for channel in there if channel["kind"] == "email"]
    return next(iter(mail or there), None)


def one_moment(channel: Json, text: str) -> str:
    order = _ORDER.search(text)
    what = f"I can't see order {order[1]} myself" if order else "Of course"
    return f"{what}. One moment, I'm asking {channel['label']} to take over."


def request(channel: Json, text: str) -> Json:
    """The arguments of `handoff_request`."""
    order = _ORDER.search(text)
    quoted = " ".join(text.split())[:500]
    if order:
        summary = f"A visitor of the shop asks about order {order[1]}, which the bot can't see."
        action = f"Look up order {order[1]} and fill in what you find."
    else:
        summary = "A visitor of the shop asks for a person, and the bot can't help further."
        action = "Answer the visitor. If it is about an order, fill in what you find."
    return {
        "channel_id": channel["id"],
        "summary": f"{summary} They wrote: “{quoted}”",
        "expected_action": action,
        "extra_context": {"order": order[1]} if order else {},
        "expected_return": [
            {
                "name": "order_status",
                "type": "enum",
                "enum_values": ["processing", "shipped", "delivered", "lost"],
                "label": "Where is the order?",
                "required": True,
            },
            {
                "name": "tracking_url",
                "type": "url",
                "label": "Tracking page",
                "placeholder": "https://carrier.example/track/abc",
            },
            {"name": "eta_date", "type": "date", "label": "When will it arrive?"},
            {
                "name": "notes",
                "type": "multiline",
                "label": "Anything else for the customer?",
                "description": "The bot passes it on.",
            },
        ],
    }


def not_reached(channel: Json, code: str) -> str:
    label = channel["label"]
    if code == "dispatch_unknown":
        return (
            f"I can't tell whether {label} got my question, so please don't wait for it. "
            "If they answer after all, I will tell you here."
        )
    return f"I couldn't reach {label} just now, so nobody is on it yet. Please try again later."


_STATUS: Final = {
    "processing": "Your order is still being prepared.",
    "shipped": "Your order is on its way.",
    "delivered": "Your order was delivered.",
    "lost": "I'm sorry: your order seems to be lost.",
}
_UNANSWERED: Final = {
    "subscriber": "I'm here again. What can I do for you?",
    "idle_timeout": "Nobody has answered so far. If an answer comes later, I will tell you here.",
    "undeliverable": "My question did not reach anybody, I'm sorry. Shall I try again?",
    "lost": "My question did not reach anybody, I'm sorry. Shall I try again?",
    "cancelled": "The question was withdrawn, so nobody is on it any more.",
}


def back_again(handoff: Json) -> str:
    """What came back, in words. The values are typed JSON; nothing is read out of the note."""
    values, label = handoff["values"], handoff["channel_label"]
    lines = []
    if "order_status" in values:
        lines.append(_STATUS.get(values["order_status"], f"It is {values['order_status']}."))
    if "tracking_url" in values:
        lines.append(f"Follow it here: {values['tracking_url']}")
    if "eta_date" in values:
        lines.append(f"It should arrive on {values['eta_date']}.")
    if "notes" in values:
        lines.append(f"They add:\n{values['notes']}")
    if lines:
        return "\n".join([f"{label} has answered. {lines[0]}", *lines[1:]])
    if handoff["outcome"] == "declined":
        return f"{label} says that this is not for them. Is there anything else I can do?"
    if handoff["outcome"] == "unresolved":
        return f"{label} could not solve it, I'm sorry. Is there anything else I can do?"
    if handoff["outcome"]:
        return f"{label} has handed you back to me. Is there anything else I can do?"
    return _UNANSWERED.get(handoff["release"], "I'm here again. What can I do for you?")
