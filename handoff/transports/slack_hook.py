"""Slack's calls to us: events, slash commands and clicks, on one address for each app.

Every call is signed, the check of the address included. Retries carry a header that nothing here
looks at: a retry may be the only delivery, and a repeat is known by its keys.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

import pydantic
from django.utils.translation import gettext

from handoff.contract import jsontext
from handoff.transports.inbound import Hook, HookAnswer, HookCall, Received
from handoff.transports.slack_events import Event, SlashCommand
from handoff.transports.slack_settings import SlackSettings
from handoff.transports.slack_text import TEXT_MAX, Mrkdwn

SKEW_SECONDS: Final = 300
DEPTH: Final = 64
"""Formatted text nests deeper than anything that we read."""
FORM_FIELDS_MAX: Final = 100
_TIMESTAMP: Final = re.compile(r"[0-9]{1,12}")
_TAKEN: Final = Received(answer=HookAnswer(status=200))
_UNREADABLE: Final = Received(answer=HookAnswer(status=400), refused="unreadable")


class SlackHook(Hook[SlackSettings]):
    def receive(self, call: HookCall) -> Received:
        """401 unless it is signed, 400 unless it can be read, else 200: with what a person said,
        or with nothing."""
        if call.method != "POST":
            return Received(answer=HookAnswer(status=405, headers={"Allow": "POST"}))
        if refused := self._refused(call):
            return Received(answer=HookAnswer(status=401), refused=refused)
        kind = call.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "application/x-www-form-urlencoded":
            return self._form(call)
        return self._event(call)

    def account(self) -> str:
        return self.settings.channel_id

    def shares_secret(self, other: SlackSettings) -> bool:
        mine, theirs = self.settings.signing_secret.encode(), other.signing_secret.encode()
        return bool(mine) and hmac.compare_digest(mine, theirs)

    def saying(self, words: str) -> HookAnswer:
        """Only whoever typed the command sees it."""
        text = Mrkdwn(TEXT_MAX).escape(words)
        return _json({"response_type": "ephemeral", "text": text})

    def _refused(self, call: HookCall) -> str:
        """Why the signature (v0) is not believed; "" when it is."""
        if not self.settings.signing_secret:
            return "no_signing_secret"
        timestamp = call.headers.get("x-slack-request-timestamp", "")
        if not _TIMESTAMP.fullmatch(timestamp):
            return "bad_signature"
        if abs(call.at - int(timestamp)) > SKEW_SECONDS:
            return "stale"
        base = b"v0:" + timestamp.encode("ascii") + b":" + call.body
        made = hmac.new(self.settings.signing_secret.encode(), base, hashlib.sha256).hexdigest()
        given = call.headers.get("x-slack-signature", "").encode("utf-8", "replace")
        return "" if hmac.compare_digest(f"v0={made}".encode(), given) else "bad_signature"

    def _event(self, call: HookCall) -> Received:
        body = _object(call.body)
        if body is None:
            return _UNREADABLE
        if body.get("type") == "url_verification":
            challenge = body.get("challenge")
            return _TAKEN if not isinstance(challenge, str) else _challenged(challenge)
        if body.get("type") != "event_callback" or not _is_message(body.get("event")):
            return _TAKEN
        try:
            said = Event.model_validate(body).said()
        except pydantic.ValidationError:
            return _TAKEN  # a message without an author, such as one that was deleted
        return Received(answer=HookAnswer(status=200), events=(said,) if said else ())

    def _form(self, call: HookCall) -> Received:
        try:
            fields = dict(
                parse_qsl(
                    call.body.decode("ascii", "replace"),
                    keep_blank_values=True,
                    max_num_fields=FORM_FIELDS_MAX,
                    errors="replace",
                )
            )
        except ValueError:
            return _UNREADABLE
        if "payload" in fields:  # a click; none of ours asks for an answer
            return _TAKEN if _object(fields["payload"].encode()) is not None else _UNREADABLE
        if fields.get("ssl_check") == "1" or "command" not in fields:
            return _TAKEN
        return self._command(fields, signature=call.headers["x-slack-signature"])

    def _command(self, fields: Mapping[str, str], *, signature: str) -> Received:
        try:
            said = SlashCommand.model_validate(fields).said(key=signature)
        except pydantic.ValidationError:
            return _UNREADABLE
        # said when the event is not kept: no channel of ours, or a repeat
        words = gettext("Nothing more was done: this is no channel of the desk, or it knew that.")
        return Received(answer=self.saying(words), events=(said,), at_once=True)


def _object(body: bytes) -> dict[str, Any] | None:
    try:
        value = jsontext.loads(body, depth=DEPTH)
    except jsontext.JSONProblem:
        return None
    return value if isinstance(value, dict) else None


def _is_message(event: object) -> bool:
    return isinstance(event, dict) and event.get("type") == "message"


def _challenged(challenge: str) -> Received:
    return Received(answer=_json({"challenge": challenge}))


def _json(value: dict[str, str]) -> HookAnswer:
    return HookAnswer(
        status=200,
        body=json.dumps(value).encode(),
        content_type="application/json; charset=utf-8",
    )
