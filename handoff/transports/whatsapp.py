"""WhatsApp through Meta's Cloud API: free words within a day of the person's own, else a template.

What Meta accepts is not delivered yet: a later status says so, or that it failed.
"""

import datetime as dt
from typing import Any, ClassVar, Final

from django.conf import settings
from django.utils import timezone

from handoff.contract.kinds import ChannelKind
from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from handoff.outbound.http import HttpAnswer, call, unclear
from handoff.transports.base import (
    Closed,
    Envelope,
    Line,
    Notice,
    Outgoing,
    Receipt,
    Request,
    SetUp,
    TestReport,
    Transport,
)
from handoff.transports.inbound import Said
from handoff.transports.whatsapp_check import check
from handoff.transports.whatsapp_errors import WINDOW_HINT, refusal
from handoff.transports.whatsapp_hook import WhatsAppHook
from handoff.transports.whatsapp_settings import WhatsAppSettings, is_business_scoped
from handoff.transports.whatsapp_text import Content, in_template, in_window, plain

WINDOW: Final = dt.timedelta(hours=24)
_OF_ITS_FORM: Final = frozenset({Kind.BAD_FORMAT, Kind.TOO_LONG})


class WhatsApp(Transport[WhatsAppSettings]):
    kind = ChannelKind.WHATSAPP
    settings_model = WhatsAppSettings
    hook = WhatsAppHook
    set_ups: ClassVar[tuple[SetUp, ...]] = (
        SetUp(
            key="subscribe",
            label="Subscribe the app to the account",
            explanation="Needed once when Meta's own test of the webhook arrives and real "
            "messages do not. Takes the WhatsApp Business Account ID.",
        ),
    )

    def send(self, message: Outgoing, *, deadline: float) -> Receipt:
        """One message to the configured person; see Transport.send.

        Outside the window it is the channel's template, or `window_closed` before anybody is
        called. The id is Meta's (`wamid.…`), the thread key the id that the person answers from.
        """
        if not isinstance(message, Notice) and not _in_window(message):
            return self._send_template(message, deadline=deadline)
        try:
            return self._send_free(message, deadline=deadline)
        except TransportError as error:
            if error.kind is not Kind.WINDOW_CLOSED or isinstance(message, Notice):
                raise
            if not self.settings.template_name:
                raise
        # Meta's clock is the one that counts, and it refused: nothing was sent
        return self._send_template(message, deadline=deadline)

    def test(self, *, deadline: float) -> TestReport:
        """Look the number and the template up; nobody gets a message."""
        return check(self.settings, self._ask, deadline=deadline)

    def set_up(self, key: str, *, hook_url: str, deadline: float) -> TestReport:
        if key != "subscribe":
            raise KeyError(key)
        if not self.settings.waba_id:
            return TestReport(works=False, lines=("Enter the WhatsApp Business Account ID first.",))
        self._ask("POST", f"{self.settings.waba_id}/subscribed_apps", deadline=deadline)
        return TestReport(works=True, lines=("Meta now posts the account's messages to the app.",))

    def accepts(self, said: Said, *, recipients: frozenset[str]) -> bool:
        """The person we write to, by the number or by the id that Meta answered with."""
        return not recipients.isdisjoint({said.sender_id, said.place}) or self.settings.to in (
            said.sender_id,
            said.place,
        )

    def _send_free(self, message: Outgoing, *, deadline: float) -> Receipt:
        replies_are_read = bool(self.settings.app_secret)
        try:
            content = in_window(message, replies_are_read=replies_are_read)
            return self._send(message, content, deadline=deadline)
        except TransportError as error:
            if error.kind not in _OF_ITS_FORM:
                raise
        content = plain(message, replies_are_read=replies_are_read)
        return self._send(message, content, deadline=deadline)

    def _send_template(self, message: Request | Line | Closed, *, deadline: float) -> Receipt:
        if not self.settings.template_name:
            raise TransportError(
                Kind.WINDOW_CLOSED,
                "the person has not written for 24 hours, and the channel names no template",
                hint=WINDOW_HINT,
            )
        return self._send(message, in_template(message, self.settings), deadline=deadline)

    def _send(self, message: Outgoing, content: Content, *, deadline: float) -> Receipt:
        person = message.place if isinstance(message, Notice) else self.settings.to
        body: dict[str, Any] = {
            "messaging_product": "whatsapp",
            "recipient_type": "individual",
            "recipient" if is_business_scoped(person) else "to": person,
            **content.as_json(),
        }
        answered = _answered(message)
        if answered:
            body["context"] = {"message_id": answered}
        answer = self._call(
            "POST", f"{self.settings.phone_number_id}/messages", json=body, deadline=deadline
        )
        return _receipt(answer)

    def _ask(self, method: str, path: str, *, deadline: float) -> dict[str, Any]:
        """What Meta says when nobody gets anything by it. Raises TransportError."""
        answer = self._call(method, path, deadline=deadline)
        found = answer.json()
        if answer.status != 200 or found is None or "error" in found:
            raise refusal(answer, sends=False)
        return found

    def _call(self, method: str, path: str, *, deadline: float, json: Any = None) -> HttpAnswer:
        return call(
            method,
            f"{settings.WHATSAPP_API_BASE}/{settings.WHATSAPP_API_VERSION}/{path}",
            headers={"Authorization": f"Bearer {self.settings.access_token}"},
            json=json,
            deadline=deadline,
            secrets=(self.settings.access_token,),
        )


def _in_window(message: Envelope) -> bool:
    return message.heard_at is not None and timezone.now() - message.heard_at < WINDOW


def _answered(message: Outgoing) -> str:
    """The message that this one quotes: the dispatch of its handoff, or what a person wrote."""
    if isinstance(message, Notice):
        return message.answers
    return next(iter(message.earlier_ids), "")


def _receipt(answer: HttpAnswer) -> Receipt:
    found = answer.json() or {}
    if answer.status != 200 or "error" in found:
        raise refusal(answer, sends=True)
    message, contact = _first(found, "messages"), _first(found, "contacts")
    wamid, status = message.get("id"), message.get("message_status")
    person = contact.get("wa_id") or contact.get("user_id")
    if not isinstance(wamid, str) or not wamid:
        raise unclear(answer, sends=True)
    return Receipt(
        provider_message_id=wamid,
        thread_key=person if isinstance(person, str) else "",
        raw_excerpt=f"message_status {status}" if isinstance(status, str) else "",
    )


def _first(found: dict[str, Any], key: str) -> dict[str, Any]:
    listed = found.get(key)
    first = listed[0] if isinstance(listed, list) and listed else None
    return first if isinstance(first, dict) else {}
