"""The demo's bot: an agent as its developer would write it, without a framework.

It follows the agent's event log with long polls, answers by rule, and hands over to people when it
is stuck. It keeps no state: what is still to be answered is read from the log, and every line and
every tool call carries an id made from the event it answers, so doing it again changes nothing.
"""

import logging
import random
import threading
import time
from typing import Final

from handoff.management import demo_words as words
from handoff.management.demo_desk import CALL_SECONDS, Desk, Json, Refused, Unreachable

WAIT_SECONDS: Final = 25
FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 30.0

log = logging.getLogger("handoff.demo")


def run(base_url: str, token: str, stop: threading.Event, *, host: str = "") -> None:
    """Answer until `stop` is set. Raises Refused when the desk does not accept the token."""
    bot = Bot(Desk(base_url, token, host=host))
    pause = FIRST_PAUSE
    while not stop.is_set():
        started = time.monotonic()
        try:
            found = bot.turn(WAIT_SECONDS)
            pause = FIRST_PAUSE
        except Unreachable as problem:
            log.warning("the desk is not reachable (%s); the next try is in %.1f s", problem, pause)
            stop.wait(pause * random.uniform(0.5, 1))  # noqa: S311  (spreads load, hides nothing)
            pause = min(pause * 2, LONGEST_PAUSE)
        else:
            if not found and time.monotonic() - started < 1:
                stop.wait(1)  # a desk with no room for waiters answers at once


class Bot:
    """Reads the log and answers. `turn` does one round."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._after = 0
        self._open: dict[int, Json] = {}
        """Events that want an answer, by their number."""
        self._seen: dict[str, int] = {}
        """Conversation -> the newest resume note that we know of."""

    def turn(self, seconds: int) -> bool:
        """Wait for events and answer them; False when none came. Raises as Desk does.

        The first rounds walk through what the log holds already. Only at its end is it known what
        nobody has answered.
        """
        page = self._desk.get(
            "/api/v1/wait/events",
            after=self._after,
            limit=200,
            seconds=0 if self._open else seconds,
            timeout=seconds + CALL_SECONDS,
        )
        for event in page["data"]:
            self._note(event)
        self._after = page["next_after"]
        if not page["has_more"]:
            for number in sorted(self._open):
                self._settle(number)
        return bool(page["data"])

    def _note(self, event: Json) -> None:
        """Keep what wants an answer, and forget what has one."""
        message = event["data"].get("message")
        if event["type"] == "message.created" and message["author"] == "agent":
            self._forget(event["conversation"], upto=words.answered_by(message, event["id"]))
        elif event["type"] == "handoff.requested" and event["conversation"]:
            self._forget(event["conversation"], upto=event["id"])
        elif words.wants_answer(event):
            self._open[event["id"]] = event

    def _forget(self, conversation: str, *, upto: int) -> None:
        for number in list(self._open):
            if number <= upto and self._open[number]["conversation"] == conversation:
                del self._open[number]

    def _settle(self, number: int) -> None:
        event = self._open[number]
        try:
            self._answer(event)
        except Refused as problem:
            if problem.status == 401:
                raise
            log.warning("event %s stays without an answer: %s", number, problem)
        self._open.pop(number, None)

    def _answer(self, event: Json) -> None:
        if event["type"] != "message.created":
            self._say(event, words.back_again(event["data"]["handoff"]))
            return
        text = event["data"]["message"]["text"]
        if words.needs_people(text):
            self._hand_over(event, text)
        else:
            self._say(event, words.small_talk(text))

    def _hand_over(self, event: Json, text: str) -> None:
        """One line while the visitor is still ours, then the tool call.

        After the call the visitor belongs to the people: a line that comes then is refused as
        superseded. So only a call that reached nobody is followed by another line.
        """
        channel = words.choose(self._desk.get("/api/v1/channels")["data"])
        if channel is None:
            self._say(event, words.NOBODY_THERE)
            return
        turn = self._say(event, words.one_moment(channel, text), suffix="-wait")
        if turn["bypass"]:
            return
        answer = self._desk.post(
            "/api/v1/tool-calls",
            {
                "name": "handoff_request",
                "conversation": event["conversation"],
                "args": words.request(channel, text),
            },
            key=words.own_id(event),
        )
        if not answer["isError"]:
            return
        code = answer["result"]["code"]
        if code == "still_running":
            raise Unreachable(answer["text"])
        log.warning("nobody took over: %s", answer["text"])
        self._say(event, words.not_reached(channel, code))

    def _say(self, event: Json, text: str, *, suffix: str = "") -> Json:
        """Post one line of the bot, and with it that we know the notes seen so far."""
        conversation = event["conversation"]
        body: Json = {"client_id": words.own_id(event) + suffix, "author": "agent", "text": text}
        if conversation in self._seen:
            body["ack_event_id"] = self._seen[conversation]
        turn = self._desk.post(f"/api/v1/conversations/{conversation}/messages", body)
        for note in turn["context"]:
            self._seen[conversation] = note["event_id"]
        return turn
