"""The toy: a chat that nobody has, and all that carries handoffs to it and back."""

import hashlib
import hmac
import json
import re
from typing import Annotated, Any, ClassVar, Final

import pydantic

from handoff.contract import jsontext
from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from handoff.outbound.http import call, rate_limited, unclear
from handoff.transports.base import (
    Envelope,
    Outgoing,
    Receipt,
    TestReport,
    Transport,
    TransportSettings,
)
from handoff.transports.chat_text import Plain, compose
from handoff.transports.inbound import (
    Came,
    Hook,
    HookAnswer,
    HookCall,
    Progress,
    Received,
    Said,
    Status,
)

BASE = "https://toy.example/api"
SKEW_SECONDS: Final = 300
REFUSALS: Final = {
    400: (Kind.BAD_FORMAT, "The toy takes 1 to 2000 characters."),
    401: (Kind.AUTH, "Enter the key again."),
    404: (Kind.NOT_FOUND, "Nobody has made such a room."),
}


class ToySettings(TransportSettings):
    secret_keys: ClassVar[frozenset[str]] = frozenset({"api_key"})
    made_keys: ClassVar[frozenset[str]] = frozenset({"hook_secret"})

    room: Annotated[str, pydantic.StringConstraints(pattern=r"^[a-z]{1,32}$")]
    """The room that the person reads, such as support."""
    api_key: Annotated[str, pydantic.StringConstraints(min_length=1)]
    """From the toy's own settings."""
    hook_secret: str = ""
    """Signs what the toy posts to this desk."""


class Posted(pydantic.BaseModel):
    """One event in the body of a webhook."""

    id: Annotated[str, pydantic.StringConstraints(min_length=1)]
    room: str
    type: str
    sender: str = ""
    name: str = ""
    text: str = ""
    message: str = ""
    answers: str = ""
    thread: str = ""
    files: int = 0

    def came(self) -> Came | None:
        """The event as the desk knows it; None for what says nothing to it."""
        if self.type in ("said", "command") and self.sender:
            return Said(
                keys=(self.id,),
                account=self.room,
                sender_id=self.sender,
                sender_name=self.name,
                text=self.text,
                place=self.room,
                message_id=self.message,
                replies_to=(self.answers,) if self.answers else (),
                thread_key=self.thread,
                only_one=not (self.answers or self.thread),
                attachments=self.files,
            )
        if self.type in set(Progress):
            return Status(
                keys=(self.id,),
                account=self.room,
                message_id=self.message,
                progress=Progress(self.type),
                failure_kind=Kind.RECIPIENT_UNREACHABLE if self.type == "failed" else None,
                failure=self.text[:400],
            )
        return None


_EVENTS: Final = pydantic.TypeAdapter(list[Posted])


class ToyHook(Hook[ToySettings]):
    def receive(self, call: HookCall) -> Received:
        """403 unless it is signed, else 200: with what happened, or with nothing."""
        if refused := self._refused(call):
            return Received(answer=HookAnswer(status=403), refused=refused)
        try:
            posted = _EVENTS.validate_python(jsontext.loads(call.body))
        except (jsontext.JSONProblem, pydantic.ValidationError):
            return Received(answer=HookAnswer(status=200), refused="unreadable")
        return Received(
            answer=HookAnswer(status=200),
            events=tuple(came for one in posted if (came := one.came())),
            at_once=[one.type for one in posted] == ["command"],
        )

    def account(self) -> str:
        return self.settings.room

    def shares_secret(self, other: ToySettings) -> bool:
        mine, theirs = self.settings.hook_secret.encode(), other.hook_secret.encode()
        return bool(mine) and hmac.compare_digest(mine, theirs)

    def saying(self, words: str) -> HookAnswer:
        return HookAnswer(
            status=200, body=json.dumps({"text": words}).encode(), content_type="application/json"
        )

    def _refused(self, call: HookCall) -> str:
        """Why the call is not believed; "" when it is."""
        timestamp = call.headers.get("x-toy-timestamp", "")
        if not self.settings.hook_secret:
            return "no_hook_secret"
        if not re.fullmatch(r"[0-9]{1,12}", timestamp):
            return "unsigned"
        given = call.headers.get("x-toy-signature", "").encode("utf-8", "replace")
        made = signature(self.settings.hook_secret, timestamp, call.body).encode()
        if not hmac.compare_digest(made, given):
            return "bad_signature"
        return "stale" if abs(call.at - int(timestamp)) > SKEW_SECONDS else ""


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """HMAC-SHA256 over `<timestamp>.<body>`, in hex."""
    return hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


class Toy(Transport[ToySettings]):
    kind = "toy"
    settings_model = ToySettings
    hook: ClassVar[type[Hook[Any]] | None] = ToyHook

    @property
    def resends_safely(self) -> bool:
        """The toy posts each `nonce` once."""
        return True

    def send(self, message: Outgoing, *, deadline: float) -> Receipt:
        """One message to the room; its id is that of its thread, when it opened one."""
        answering = "Reply to this message." if self.settings.hook_secret else ""
        nonce = f"{message.session}:{message.number}" if isinstance(message, Envelope) else ""
        sent = self.ask(
            "POST",
            "messages",
            {
                "room": self.settings.room,
                "text": compose(message, Plain(2000), answering=answering),
                "thread": message.thread_key,
                "nonce": nonce,
            },
            deadline=deadline,
        )
        return Receipt(
            provider_message_id=str(sent.get("id", "")), thread_key=str(sent.get("thread", ""))
        )

    def test(self, *, deadline: float) -> TestReport:
        """Whether the key opens the room."""
        found = self.ask("GET", f"rooms/{self.settings.room}", deadline=deadline)
        return TestReport(works=True, lines=(f"The room has {found.get('people')} people.",))

    def accepts(self, said: Said, *, recipients: frozenset[str]) -> bool:
        """Whoever may write in the room is the recipient."""
        return said.place == self.settings.room

    def ask(
        self, method: str, path: str, body: object = None, *, deadline: float
    ) -> dict[str, Any]:
        answer = call(
            method,
            f"{BASE}/{path}",
            json=body,
            headers={"Authorization": f"Bearer {self.settings.api_key}"},
            deadline=deadline,
        )
        if answer.status == 429:
            raise rate_limited(answer)
        if answer.status in REFUSALS:
            kind, hint = REFUSALS[answer.status]
            raise TransportError(kind, f"the toy answered {answer.status}", hint=hint)
        read = answer.json()
        if answer.status != 200 or read is None:
            raise unclear(answer, sends=method == "POST")
        return read
