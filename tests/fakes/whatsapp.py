"""WhatsApp's Cloud API, as much of it as the desk meets, with its rules (channels.md 6 and 9)."""

import base64
import dataclasses
import datetime as dt
import hashlib
import hmac
import itertools
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.fakes import whatsapp_rules
from tests.fakes.providers import Delivery, FakeAnswer, FakeRequest, UnknownPath
from tests.fakes.whatsapp_rules import MetaError, Template

TOKEN: Final = "EAAG-desk"
NUMBER_ID: Final = "106540352242922"
NUMBER: Final = "15550783881"
WABA: Final = "102290129340398"
PERSON: Final = "4915123456789"
APP_SECRET: Final = "handoff-test-app-secret"
WINDOW: Final = dt.timedelta(hours=24)
_PATH: Final = re.compile(r"/v\d+\.\d+/(?P<id>[^/]+)(?:/(?P<edge>[a-z_]+))?")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Sent:
    """One message as the person sees it."""

    wamid: str
    to: str
    type: str
    text: str
    url: str = ""
    """Where its button leads."""
    quotes: str = ""
    """The wamid of the message that it answers."""


class FakeWhatsApp:
    """One business account with one number. What it sent stands in `sent`, as it was shown."""

    prefix = "/whatsapp"

    def __init__(self) -> None:
        self.sent: list[Sent] = []
        self.templates: list[Template] = []
        self.subscribed = False
        self.number: dict[str, Any] = {
            "display_phone_number": "+1 555-078-3881",
            "verified_name": "Shop",
            "quality_rating": "GREEN",
            "code_verification_status": "VERIFIED",
            "status": "CONNECTED",
            "name_status": "APPROVED",
            "platform_type": "CLOUD_API",
            "throughput": {"level": "STANDARD"},
        }
        self.wa_ids: dict[str, str] = {}
        """Numbers that WhatsApp knows under another id, such as old Brazilian ones."""
        self.unreachable: dict[str, int] = {}
        """The code that a person's messages are refused with."""
        self.before_answering: Callable[[Sent], object] = lambda sent: None
        """Called when a message is on its way and we do not know its id yet."""
        self._heard: dict[str, dt.datetime] = {}
        self._counter = itertools.count(1)

    def handle(self, request: FakeRequest) -> FakeAnswer:
        found = _PATH.fullmatch(request.path)
        if found is None:
            raise UnknownPath
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return MetaError(190, "Error validating access token").answer()
        if found["id"] not in (NUMBER_ID, WABA):
            return MetaError(100, "Object does not exist", subcode=33).answer()
        match request.method, found["id"], found["edge"]:
            case "GET", identity, None if identity == NUMBER_ID:
                asked = request.query.get("fields", "").split(",")
                return FakeAnswer(
                    json={key: self.number[key] for key in asked if key in self.number}
                )
            case "POST", identity, "messages" if identity == NUMBER_ID:
                return self._message(request)
            case "GET", identity, "message_templates" if identity == WABA:
                name = request.query.get("name", "")
                rows = [row.as_json() for row in self.templates if name in row.name]
                return FakeAnswer(json={"data": rows, "paging": {}})
            case "POST", identity, "subscribed_apps" if identity == WABA:
                self.subscribed = True
                return FakeAnswer(json={"success": True})
            case _:
                raise UnknownPath

    def wrote(self, person: str = PERSON, *, ago: dt.timedelta = dt.timedelta()) -> None:
        """The person wrote to the number then, which opens the window by Meta's clock."""
        self._heard[person] = dt.datetime.now(dt.UTC) - ago

    def says(
        self, text: str, *, person: str = PERSON, quotes: str = "", **changes: Any
    ) -> dict[str, Any]:
        """What the webhook holds when the person writes; it opens the window."""
        self.wrote(person)
        message = {
            "from": person,
            "id": self._wamid(person),
            "timestamp": str(int(dt.datetime.now(dt.UTC).timestamp())),
            "type": "text",
            "text": {"body": text},
            **({"context": {"from": NUMBER, "id": quotes}} if quotes else {}),
            **changes,
        }
        contact = {"profile": {"name": "Mia"}, "wa_id": person}
        return self._value(contacts=[contact], messages=[message])

    def reports(self, wamid: str, *progress: str, code: int = 131026) -> dict[str, Any]:
        """What the webhook holds when a message got so far, in the order of the arguments."""
        error = {
            "code": code,
            "title": "Message undeliverable",
            "message": "Message undeliverable",
            "error_data": {"details": "The number has no WhatsApp: +4915123456789."},
        }
        statuses = [
            {
                "id": wamid,
                "status": name,
                "timestamp": str(int(dt.datetime.now(dt.UTC).timestamp())),
                "recipient_id": PERSON,
                **({"errors": [error]} if name == "failed" else {}),
            }
            for name in progress
        ]
        return self._value(statuses=statuses)

    def delivery(self, *values: Mapping[str, Any], secret: str = APP_SECRET) -> Delivery:
        """One signed call with an entry for each value, in Meta's way to write JSON."""
        entries = [
            {"id": WABA, "changes": [{"field": "messages", "value": value}]} for value in values
        ]
        body = written({"object": "whatsapp_business_account", "entry": entries})
        return Delivery(body=body, headers={"X-Hub-Signature-256": signature(secret, body)})

    def verification(self, token: str, challenge: str = "1158201444") -> Delivery:
        """The call with which Meta verifies a webhook address."""
        query = f"hub.mode=subscribe&hub.challenge={challenge}&hub.verify_token={token}"
        return Delivery(method="GET", query=query)

    def _value(self, **parts: Any) -> dict[str, Any]:
        return {
            "messaging_product": "whatsapp",
            "metadata": {"display_phone_number": NUMBER, "phone_number_id": NUMBER_ID},
            **parts,
        }

    def _message(self, request: FakeRequest) -> FakeAnswer:
        try:
            body = request.json()
        except ValueError:
            return MetaError(100, "Invalid JSON").answer()
        try:
            sent = self._taken(body)
        except MetaError as error:
            return error.answer()
        self.sent.append(sent)
        self.before_answering(sent)
        asked = str(body.get("to") or body.get("recipient"))
        return FakeAnswer(
            json={
                "messaging_product": "whatsapp",
                "contacts": [{"input": asked, "wa_id": self.wa_ids.get(asked, asked)}],
                "messages": [{"id": sent.wamid, "message_status": "accepted"}],
            }
        )

    def _taken(self, body: Any) -> Sent:
        if not isinstance(body, dict) or body.get("messaging_product") != "whatsapp":
            raise MetaError(100, "The parameter messaging_product is required.")
        person = str(body.get("recipient") or body.get("to") or "")
        if not person:
            raise MetaError(131008, "The parameter to is required.")
        if "to" in body and not re.fullmatch(r"\d{6,15}", person):
            raise MetaError(131009, "The parameter to is not valid.")
        if person == NUMBER:
            raise MetaError(131021)
        person = self.wa_ids.get(person, person)
        if person in self.unreachable:
            raise MetaError(self.unreachable[person], "Message undeliverable")
        quotes = (body.get("context") or {}).get("message_id", "")
        if quotes and not quotes.startswith("wamid."):
            raise MetaError(131009, "context.message_id is not valid.")
        kind = body.get("type")
        if kind not in ("text", "interactive", "template"):
            raise MetaError(131051, "Unsupported message type")
        if kind != "template" and not self._open(person):
            raise MetaError(
                131047, "More than 24 hours have passed since the customer last replied"
            )
        part = body.get(kind) or {}
        if kind == "template":
            text, url = whatsapp_rules.template(part, self.templates)
        else:
            rule = whatsapp_rules.text if kind == "text" else whatsapp_rules.interactive
            text, url = rule(part)
        return Sent(
            wamid=self._wamid(person), to=person, type=kind, text=text, url=url, quotes=quotes
        )

    def _open(self, person: str) -> bool:
        heard = self._heard.get(person)
        return heard is not None and dt.datetime.now(dt.UTC) - heard < WINDOW

    def _wamid(self, person: str) -> str:
        named = f"{person}.{next(self._counter)}".encode()
        return f"wamid.{base64.b64encode(named).decode()}"


def signature(secret: str, body: bytes) -> str:
    """The header `X-Hub-Signature-256` of a call."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def written(value: object) -> bytes:
    """JSON as Meta writes it: nothing outside ASCII, and a backslash before each slash."""
    return json.dumps(value, separators=(",", ":")).replace("/", "\\/").encode()
