"""Meta's webhook: verified over the raw bytes, then every message and status in it is read.

Meta sends each at least once, in any order, several in one call, and for seven days repeats a
call that is not answered 200.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Iterator
from typing import Any, ClassVar, Final

import pydantic

from handoff.contract.limits import FAILURE_MAX
from handoff.transports.inbound import Hook, HookAnswer, HookCall, Progress, Received, Said, Status
from handoff.transports.whatsapp_errors import read_failure
from handoff.transports.whatsapp_events import Change, ReceivedMessage, ReceivedStatus
from handoff.transports.whatsapp_settings import WhatsAppSettings

_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{1,200}")
_REFUSED: Final = HookAnswer(status=403)
_PROGRESS: Final = {
    "sent": Progress.SENT,
    "delivered": Progress.DELIVERED,
    "read": Progress.READ,
    "played": Progress.READ,
    "failed": Progress.FAILED,
}


class WhatsAppHook(Hook[WhatsAppSettings]):
    body_max: ClassVar[int] = 3 * 1024 * 1024

    def receive(self, call: HookCall) -> Received:
        """Answers the verification of a GET; reads what a POST with our app's signature holds."""
        if call.method == "GET":
            return self._verify(call)
        if not self.settings.app_secret:
            return Received(answer=_REFUSED, refused="no_app_secret")
        if not self._signed(call):
            return Received(answer=_REFUSED, refused="bad_signature")
        try:
            body = json.loads(call.body)
        except (ValueError, RecursionError):
            return Received(answer=HookAnswer(status=200), refused="unreadable")
        return Received(answer=HookAnswer(status=200), events=tuple(_events(body)))

    def account(self) -> str:
        return self.settings.phone_number_id

    def shares_secret(self, other: WhatsAppSettings) -> bool:
        mine, theirs = self.settings.app_secret.encode(), other.app_secret.encode()
        return bool(mine) and hmac.compare_digest(mine, theirs)

    def _verify(self, call: HookCall) -> Received:
        """No signature stands on a GET: the token that the admin entered at Meta is the proof."""
        wanted = self.settings.verify_token.encode()
        token = call.query.get("hub.verify_token", "").encode("utf-8", "replace")
        challenge = call.query.get("hub.challenge", "")
        known = bool(wanted) and hmac.compare_digest(wanted, token)
        if not known or call.query.get("hub.mode") != "subscribe":
            return Received(answer=_REFUSED, refused="bad_verify_token")
        if not _CHALLENGE.fullmatch(challenge):
            return Received(answer=_REFUSED, refused="unreadable")
        return Received(answer=HookAnswer(status=200, body=challenge.encode()))

    def _signed(self, call: HookCall) -> bool:
        made = hmac.new(self.settings.app_secret.encode(), call.body, hashlib.sha256)
        given = call.headers.get("x-hub-signature-256", "").encode("utf-8", "replace")
        return hmac.compare_digest(f"sha256={made.hexdigest()}".encode(), given)


def _events(body: object) -> Iterator[Said | Status]:
    for change in _changes(body):
        for raw in change.messages:
            said = _said(raw, change)
            if said is not None:
                yield said
        for raw in change.statuses:
            status = _status(raw, change)
            if status is not None:
                yield status


def _changes(body: object) -> Iterator[Change]:
    """What is said of messages, for whatever account and number; the rest is not for us."""
    entries = body.get("entry") if isinstance(body, dict) else None
    for entry in entries if isinstance(entries, list) else ():
        changes = entry.get("changes") if isinstance(entry, dict) else None
        for change in changes if isinstance(changes, list) else ():
            if isinstance(change, dict) and change.get("field") == "messages":
                try:
                    yield Change.model_validate(change.get("value"))
                except pydantic.ValidationError:
                    continue


def _said(raw: Any, change: Change) -> Said | None:
    try:
        message = ReceivedMessage.model_validate(raw)
    except pydantic.ValidationError:
        return None
    words, attachments = message.words(), message.attachments()
    contact = change.contact_of(message)
    number = message.from_ or contact.wa_id
    sender = message.from_user_id or contact.user_id or number
    if not sender or (not words and not attachments):
        return None
    return Said(
        keys=(message.id,),
        account=change.metadata.phone_number_id,
        at=message.at(),
        sender_id=sender,
        sender_name=contact.profile.name,
        text=words,
        place=number or sender,
        message_id=message.id,
        replies_to=(message.context.id,) if message.context.id else (),
        recent_one=True,
        attachments=attachments,
    )


def _status(raw: Any, change: Change) -> Status | None:
    try:
        status = ReceivedStatus.model_validate(raw)
    except pydantic.ValidationError:
        return None
    progress = _PROGRESS.get(status.status)
    if progress is None:
        return None
    failure = next(filter(None, map(read_failure, status.errors)), None)
    failed = progress is Progress.FAILED
    return Status(
        keys=(f"{status.id}:{status.status}",),
        account=change.metadata.phone_number_id,
        at=status.at(),
        message_id=status.id,
        progress=progress,
        failure_kind=failure.kind if failed and failure else None,
        failure=failure.detail[:FAILURE_MAX] if failed and failure else "",
        provider_code=str(failure.code) if failed and failure else "",
        hint=failure.hint if failed and failure else "",
    )
