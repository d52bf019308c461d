"""One agent's view of one desk. Every method answers; none raises for what the desk did."""

import logging
import math
import ssl
import time
import urllib.parse
import uuid
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, Final, Literal

from handoff_client import answers, inbox, offers, turns
from handoff_client.answers import Answer, Received
from handoff_client.door import Door
from handoff_client.events import Events
from handoff_client.keys import sendable
from handoff_client.turns import Turn
from handoff_client.waiting import Wait

TIMEOUT: Final = 45.0
"""The desk works on a call for up to 20 s, and makes a repeat wait for up to 5 s."""

Conversation = str | Mapping[str, str]
"""The desk's id `c_…`, or `{"external_id": …}` for your own name of it."""


class Unset(Enum):
    """Stands for an argument that was not given, where None says something else."""

    UNSET = "unset"


log = logging.getLogger("handoff_client")


class Desk:
    """Calls the tools of a desk and follows what happens.

    `timeout` is the most that one call takes in seconds, however slowly bytes come: the first try
    has two thirds of it; when that ends without an HTTP answer, one more try with the same
    idempotency key has the rest. Safe to use from several threads. The token is in no repr, log
    line or exception. Proxies of the environment are ignored, redirects are not followed.
    """

    def __init__(
        self,
        url: str,
        token: str | None,
        *,
        timeout: float = TIMEOUT,
        context: ssl.SSLContext | None = None,
    ) -> None:
        """`context` is for a private certificate authority. Raises ValueError for a `timeout`
        that is not a number above 0; an address or a token that can't be used is an answer.
        """
        if not (timeout > 0 and math.isfinite(timeout)):
            raise ValueError("timeout must be a number of seconds above 0")
        self._door = Door(url, token, timeout=timeout, context=context)
        self._heard = turns.Heard()

    def __repr__(self) -> str:
        return f"Desk({self._door!r})"

    def __deepcopy__(self, memo: object) -> "Desk":
        return self

    @property
    def timeout(self) -> float:
        return self._door.timeout

    def call(
        self,
        name: str,
        args: Mapping[str, Any],
        *,
        conversation: Conversation | None = None,
        run: str | None = None,
        on_behalf_of: str | Unset | None = Unset.UNSET,
        idempotency_key: str | None = None,
    ) -> Answer:
        """Call one tool.

        The same `idempotency_key` contacts a person once, however often it is sent. Without one,
        `run` and the arguments are the key, and without a `run` a key is made for this call.
        """
        body: dict[str, Any] = {"name": name, "args": args}
        if conversation is not None:
            body["conversation"] = conversation
        if run is not None:
            body["run"] = run
        if on_behalf_of is not Unset.UNSET:
            body["on_behalf_of"] = on_behalf_of
        if idempotency_key is None and run is None:
            idempotency_key = uuid.uuid4().hex
        headers = {"Idempotency-Key": sendable(idempotency_key)} if idempotency_key else {}
        found = self._door.ask("POST", "/api/v1/tool-calls", body, headers)
        return found if isinstance(found, Answer) else answers.read(found)

    def request_handoff(
        self,
        channel_id: int,
        summary: str,
        expected_action: str,
        *,
        urgency: Literal["low", "normal", "high"] | None = None,
        contact_back_email: str | None = None,
        include_transcript: bool | None = None,
        extra_context: Mapping[str, str] | None = None,
        expected_return: Iterable[Mapping[str, Any]] | None = None,
        conversation: Conversation | None = None,
        run: str | None = None,
        on_behalf_of: str | Unset | None = Unset.UNSET,
        idempotency_key: str | None = None,
    ) -> Answer:
        """Hand over to the people behind a channel; without a conversation, only ask them."""
        optional = {
            "urgency": urgency,
            "contact_back_email": contact_back_email,
            "include_transcript": include_transcript,
            "extra_context": extra_context,
            "expected_return": None if expected_return is None else list(expected_return),
        }
        args = {"channel_id": channel_id, "summary": summary, "expected_action": expected_action}
        return self.call(
            "handoff_request",
            args | {name: value for name, value in optional.items() if value is not None},
            conversation=conversation,
            run=run,
            on_behalf_of=on_behalf_of,
            idempotency_key=idempotency_key,
        )

    def ask_a_person(
        self,
        question: str,
        *,
        conversation: Conversation | None = None,
        idempotency_key: str | None = None,
    ) -> Answer:
        """The escalation of last resort: put a question to whoever the desk has for that."""
        args = {"question": question}
        return self.call(
            "ask_a_person", args, conversation=conversation, idempotency_key=idempotency_key
        )

    def status(self, session: str) -> Answer:
        """How a handoff stands, in words; `handoff` of the answer has it as data."""
        return self.call("handoff_status", {"handoff_session_id": session})

    def cancel(self, session: str, *, reason: str = "") -> Answer:
        """End a handoff that this agent asked for; its recipient is told."""
        args = {"handoff_session_id": session} | ({"reason": reason} if reason else {})
        return self.call("handoff_cancel", args)

    def release(
        self,
        session: str,
        *,
        outcome: Literal["resolved", "unresolved", "declined"] = "resolved",
        message: str = "",
        return_values: Mapping[str, Any] | None = None,
    ) -> Answer:
        """As the agent that holds a handoff: give it back, with the values that were asked for."""
        args: dict[str, Any] = {"handoff_session_id": session, "outcome": outcome}
        if message:
            args["message"] = message
        if return_values is not None:
            args["return_values"] = dict(return_values)
        return self.call("handoff_release", args)

    def reply(self, session: str, text: str, *, idempotency_key: str | None = None) -> Answer:
        """As the agent that holds a handoff: say something to the subscriber."""
        return self.call(
            "handoff_reply",
            {"handoff_session_id": session, "text": text},
            idempotency_key=idempotency_key,
        )

    def inbox(self, after: int = 0) -> list[dict[str, Any]]:
        """The handoffs that other agents gave to this one, oldest first, 50 at most.

        `after` is the `event_id` of the last one that was worked on. Each has `id`, `status`,
        `claimed_at`, `initial_context` for the model and `return_schema`. Empty, too, while the
        desk can't be asked.
        """
        return inbox.items(self._door.ask("GET", f"/api/v1/inbox?after={after}&limit={inbox.PAGE}"))

    def claim(self, session: str) -> Answer:
        """Take a handoff of the inbox on; one that nobody claims in time is lost."""
        name = urllib.parse.quote(session, safe="")
        return turns.object_with(self._door.ask("POST", f"/api/v1/inbox/{name}/claim", {}), "id")

    def wait_resumed(self, session: str, *, seconds: float) -> Answer:
        """Wait until a handoff ended, through any number of lost connections and restarts.

        The answer is that of `status`: its `handoff` has the typed `values`, its text is the
        resume note. After `seconds` it is whatever holds by then. Takes one call longer at most.
        """
        wait = self.waiting(session, seconds=seconds)
        while (answer := wait.step()) is None:
            time.sleep(wait.pause)
        return answer

    def waiting(self, session: str, *, seconds: float) -> Wait:
        """The same in steps, for a program that does its own sleeping."""
        return Wait(self._door, session, seconds, status=self.status)

    def events(self, after: int = 0, *, seconds: float = math.inf, stream: bool = False) -> Events:
        """The agent's events after a number, as they come, for `seconds`.

        By long polls, or as one server-sent stream. Lost connections are taken up again where
        they broke; `refusal` says why the events ended when the desk refused them.
        """
        return Events(self._door, after, seconds=seconds, stream=stream)

    def conversation(
        self, external_id: str, *, name: str = "", email: str = "", locale: str = ""
    ) -> Answer:
        """Make or find a conversation by your own id; its `c_…` is `result["id"]`."""
        given = {"name": name, "email": email, "locale": locale}
        subscriber = {key: value for key, value in given.items() if value}
        body = {"external_id": external_id, "subscriber": subscriber}
        return turns.made_conversation(self._door.ask("POST", "/api/v1/conversations", body))

    def post_turn(
        self,
        conversation: Conversation,
        text: str,
        *,
        author: Literal["subscriber", "agent"] = "subscriber",
        client_id: str | None = None,
        acknowledge: bool = True,
    ) -> Turn:
        """Post one line and learn whose turn it is.

        The notes that come back in `context` are acknowledged by the next line that is posted in
        this conversation, unless that one says `acknowledge=False`.
        """
        if isinstance(conversation, str):
            place = conversation
        else:
            made = self.conversation(conversation.get("external_id", ""))
            if made.is_error:
                return Turn({}, refusal=made)
            place = str(made.result["id"])
        body: dict[str, Any] = {
            "client_id": client_id or uuid.uuid4().hex,
            "author": author,
            "text": text,
        }
        acknowledged = self._heard.newest(place) if acknowledge else None
        if acknowledged is not None:
            body["ack_event_id"] = acknowledged
        name = urllib.parse.quote(place, safe="")
        turn = turns.read(self._door.ask("POST", f"/api/v1/conversations/{name}/messages", body))
        if turn.refusal is None:
            self._heard.note(place, turn.notes, acknowledged)
        return turn

    def tools(self, format: offers.Format = "mcp", *, strict: bool = False) -> list[dict[str, Any]]:  # noqa: A002
        """The tools that this agent has now, as `mcp`, `openai`, `openai_responses` or
        `anthropic` describe tools. While the desk can't be asked: the ones that every agent has.
        """
        found = self._door.ask("GET", f"/api/v1/tools?format={format}&strict={int(strict)}")
        listed = None
        if isinstance(found, Received) and found.is_success:
            listed = (answers.json_object(found.body) or {}).get("tools")
        if isinstance(listed, list) and all(isinstance(tool, dict) for tool in listed):
            return listed
        log.warning("the desk did not list its tools; the agent gets those that all agents have")
        return offers.everybodys(format)
