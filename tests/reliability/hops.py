"""Hops between agents of one desk: what both of them, and the chat, can see of each."""

import collections
import dataclasses
import json
from collections.abc import Sequence
from typing import Any, Final

from handoff_client import Desk
from tests.client.shop import Shop
from tests.reliability.doors import Doors, Seed

EXPECTED: Final = [{"name": "found", "type": "string", "required": True}]
CLOSED: Final = "[Bot resumed — the sibling agent "


@dataclasses.dataclass(frozen=True)
class Agent:
    """One agent of the desk, and its channel to its sibling."""

    name: str
    token: str
    channel: int

    def desk(self, url: str) -> Desk:
        return Desk(url, self.token, timeout=15)

    def pages(self, port: int, path: str) -> list[dict[str, Any]]:
        """Everything behind a paged address, in its order."""
        doors = Doors(port, Seed(token=self.token, owner="", email=0, inbox=0))
        found: list[dict[str, Any]] = []
        after = 0
        while True:
            reply = doors.rest("GET", f"{path}?after={after}&limit=200")
            assert reply.status == 200, reply.text
            page = reply.json
            found += page["data"]
            after = page["next_after"]
            if not page["has_more"]:
                return found


def siblings(shop: Shop) -> tuple[Agent, Agent]:
    """The shop's agent and a second one; each may hand to the other."""
    tokens = {"shop": shop.token, "orders": shop.made("new_agent", "orders")["token"]}
    first, second = (
        _granted(shop, tokens[a], a, b) for a, b in (tuple(tokens), tuple(tokens)[::-1])
    )
    return first, second


def _granted(shop: Shop, token: str, name: str, target: str) -> Agent:
    config = json.dumps({"agent": target, "contact_limit_per_hour": 1_000_000})
    made = ["--agent", name, "--kind", "agent", "--label", f"The {target} desk"]
    channel = shop.made("new_channel", *made, "--config", config)["channel_id"]
    return Agent(name, token, channel)


@dataclasses.dataclass
class Hop:
    """One handoff of `origin` to the other agent, about an order of its own."""

    number: int
    origin: Agent
    session: str = ""
    lines: list[str] = dataclasses.field(default_factory=list)
    """What the visitor said to the sibling."""
    expects: str = "agent"
    """The release that it ends with."""

    @property
    def place(self) -> str:
        return f"visitor-{self.number}"

    def ask(self, desk: Desk) -> bool:
        """False when the answer has to be asked for again, with the same key."""
        answer = desk.request_handoff(
            self.origin.channel,
            summary=f"The visitor wants to know about order {self.number}.",
            expected_action=f"Look up order {self.number} and say what you found.",
            expected_return=EXPECTED,
            conversation={"external_id": self.place},
            on_behalf_of=None,
            idempotency_key=self.place,
        )
        said = answer.result or {}
        named = said.get("handoff_session_id") or (answer.handoff or {}).get("id")
        assert not (answer.is_error and named), answer
        assert self.session in ("", named or self.session), "another session for the same key"
        self.session = named or self.session
        return bool(named)

    def say(self, desk: Desk, text: str) -> bool:
        """One line of the visitor; False when it may be said again."""
        turn = desk.post_turn({"external_id": self.place}, text, client_id=text)
        if turn.refusal is not None:
            return False
        if turn.result["message"]["routed_to"] == "recipient" and text not in self.lines:
            self.lines.append(text)
        return True


def faults(
    hops: Sequence[Hop], port: int, sides: Sequence[Agent], *, replies: int = 1
) -> list[str]:
    """What both agents' events and the chats say otherwise than each hop was; [] for nothing."""
    logs = {agent.name: agent.pages(port, "/api/v1/events") for agent in sides}
    found = [
        f"{name}: the events are not in order"
        for name, log in logs.items()
        if [event["id"] for event in log] != sorted({event["id"] for event in log})
    ]
    for hop in hops:
        [other] = [agent for agent in sides if agent != hop.origin]
        found += _hop_faults(hop, logs[hop.origin.name], logs[other.name], replies)
    for agent in sides:
        asked = {
            event["handoff"] for event in logs[agent.name] if event["type"] == "handoff.requested"
        }
        if asked != {hop.session for hop in hops if hop.origin == agent}:
            found.append(f"{agent.name}: a handoff that nobody knows, or one is lost")
    return found


def _hop_faults(
    hop: Hop, mine: list[dict[str, Any]], given: list[dict[str, Any]], replies: int
) -> list[str]:
    events = [event for event in mine if event["handoff"] == hop.session]
    types = [event["type"] for event in events]
    counts = collections.Counter(types)
    ends = hop.expects == "agent"
    once = ["handoff.requested", "handoff.started", "handoff.released"]
    once += ["handoff.claimed", "participant.joined"] if ends else []
    found = [f"{counts[type_]} times {type_}" for type_ in once if counts[type_] != 1]
    order = [type_ for type_ in types if type_ in once]
    if order != [type_ for type_ in _ORDER if type_ in order]:
        found.append(f"the order of {order}")
    said = [event["data"]["message"] for event in events if "message" in event["data"]]
    words = [line["text"] for line in said if line["author"] == "sibling"]
    if len(words) != (replies if ends else 0) or words != sorted(words):
        found.append(f"the sibling said {words}")
    notes = [line["text"] for line in said if line["author"] == "system" and CLOSED in line["text"]]
    if len(notes) != 1 or (f"• found: order {hop.number}" in notes[0]) != ends:
        found.append(f"the notes {notes}")
    handed = [event for event in given if event["handoff"] == hop.session]
    if sum(event["type"] == "handoff.assigned" for event in handed) != 1:
        found.append("not assigned once")
    heard = [
        event["data"]["message"]["text"] for event in handed if event["type"] == "message.routed"
    ]
    if heard != hop.lines:
        found.append(f"the sibling heard {heard}, the visitor said {hop.lines}")
    return [f"{hop.place} ({hop.session}): {fault}" for fault in found]


_ORDER: Final = (
    "handoff.requested",
    "handoff.started",
    "handoff.claimed",
    "participant.joined",
    "handoff.released",
)


def mute(hops: Sequence[Hop], url: str) -> list[str]:
    """The conversations whose next line does not go to their own agent."""
    found = []
    for hop in hops:
        turn = hop.origin.desk(url).post_turn({"external_id": hop.place}, "And now?")
        if (
            turn.refusal is not None
            or turn.bypass
            or turn.result["message"]["routed_to"] != "agent"
        ):
            found.append(hop.place)
    return found
