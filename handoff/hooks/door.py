"""The door for webhooks: bytes in, kept events, and the status code that the provider needs.

Without session, cookie and throttle: a provider has none of the first, and would take a 429 for a
reason to stop. Whether a call is believed is decided over its raw bytes, by the secret of its
channel.
"""

import logging
import time
import uuid
from typing import Any, Final

from django.db import Error as DatabaseError
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.csrf import csrf_exempt

from handoff.actions.inbound import accept
from handoff.actions.inbound_apply import apply_at_once
from handoff.actions.refusals import note_inbound
from handoff.actions.relatives import opened
from handoff.models import Channel
from handoff.transports import carried, transport_class
from handoff.transports.inbound import Hook, HookAnswer, HookCall, Received

log = logging.getLogger(__name__)
TOO_LARGE: Final = HookAnswer(status=413)
UNREADABLE: Final = HookAnswer(status=503, headers={"Retry-After": "60"})


@method_decorator(csrf_exempt, name="dispatch")
class Door(View):
    """`/hooks/<kind>/<uuid>/`."""

    http_method_names = ("get", "post")

    def get(self, request: HttpRequest, kind: str, channel_uuid: uuid.UUID) -> HttpResponse:
        return self._answer(request, kind, channel_uuid)

    def post(self, request: HttpRequest, kind: str, channel_uuid: uuid.UUID) -> HttpResponse:
        return self._answer(request, kind, channel_uuid)

    def _answer(self, request: HttpRequest, kind: str, channel_uuid: uuid.UUID) -> HttpResponse:
        hook = transport_class(kind).hook if kind in carried() else None
        if hook is None:
            raise Http404
        try:
            answer = _take(request, hook, kind, channel_uuid)
        except DatabaseError:
            log.exception("a webhook of a %s channel met an outage", kind)
            answer = HookAnswer(status=hook.unavailable)
        response = HttpResponse(
            answer.body,
            status=answer.status,
            content_type=answer.content_type,
            headers=dict(answer.headers),
        )
        response.headers["Cache-Control"] = "no-store"
        return response


def _take(
    request: HttpRequest, hook_class: type[Hook[Any]], kind: str, channel_uuid: uuid.UUID
) -> HookAnswer:
    channel = Channel.objects.select_related("agent").filter(uuid=channel_uuid, kind=kind).first()
    if channel is None:
        note_inbound("inbound.refused", None, "unknown_channel")
        raise Http404
    found = opened(channel)
    if found is None:
        note_inbound("inbound.refused", channel, "unreadable_settings")
        return UNREADABLE
    if _declared(request) > hook_class.body_max or len(request.body) > hook_class.body_max:
        note_inbound("inbound.refused", channel, "too_large")
        return TOO_LARGE
    hook = hook_class(found.transport.settings)
    received = hook.receive(_call(request))
    if received.refused:
        note_inbound("inbound.refused", channel, received.refused)
    if request.method != "POST":  # looking changes nothing
        return received.answer
    return _applied(hook, received, accept(channel, received.events))


def _applied(hook: Hook[Any], received: Received, kept: list[int]) -> HookAnswer:
    if received.at_once and kept:
        return hook.saying(apply_at_once(kept[0]))
    return received.answer


def _declared(request: HttpRequest) -> int:
    length = request.headers.get("content-length", "")
    return int(length[:12]) if length.isascii() and length.isdecimal() else 0


def _call(request: HttpRequest) -> HookCall:
    return HookCall(
        method=str(request.method),
        headers={name.lower(): value for name, value in request.headers.items()},
        query=request.GET.dict(),
        body=request.body,
        at=time.time(),
    )
