"""`/api/v1/webhooks`: an agent's own endpoints, and the log of their calls."""

from typing import Any, Final

from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from handoff.actions import webhook_addresses, webhook_calls, webhooks
from handoff.api import bodies
from handoff.api.agentview import AgentView
from handoff.api.openapi import PAGE_PARAMETERS, REFUSALS
from handoff.contract import webhooks as shapes
from handoff.models import Webhook
from handoff.selectors import webhooks as reading

_ID: Final = "wh_5rhupq5bmtg5sptfjj3e2roq5m"
_MADE_AT: Final = "2026-12-01T12:00:00.000Z"
W_EXAMPLE: Final[dict[str, Any]] = {
    "id": _ID,
    "url": "https://shop.example/handoff-events",
    "label": "Shop, production",
    "event_types": ["handoff.cancelled", "handoff.late_return", "handoff.released"],
    "payload": "full",
    "enabled": True,
    "stopped": None,
    "problem": "",
    "after": 41,
    "behind": 0,
    "tries": 0,
    "failing_since": None,
    "next_attempt_at": None,
    "last_success_at": None,
    "previous_secret_until": None,
    "created_at": _MADE_AT,
}
_SECRET_EXAMPLE: Final = "whsec_" + "C2FVsBQIhrscChlQIMV" * 2 + "b5sYY="
CALL_EXAMPLE: Final[dict[str, Any]] = {
    "id": 7,
    "kind": "test",
    "webhook_id": "msg_e7eoobz5dr7ahtlelsn64rvunq",
    "event": None,
    "type": shapes.TEST_TYPE,
    "fate": "delivered",
    "status": 204,
    "seconds": 0.12,
    "at": _MADE_AT,
}


def _asks(**value: Any) -> list[OpenApiExample]:
    return [OpenApiExample("request", value=value, request_only=True)]


def _answers(value: Any, *statuses: str) -> list[OpenApiExample]:
    return [OpenApiExample("answer", value=value, response_only=True, status_codes=list(statuses))]


class Webhooks(AgentView):
    @extend_schema(
        operation_id="list_webhooks",
        summary="List your webhooks",
        description="With how far each has come, and what to do about one that fails.",
        tags=["webhooks"],
        responses={200: shapes.WebhookList, **REFUSALS},
        examples=_answers({"data": [W_EXAMPLE]}, "200"),
    )
    def get(self, request: Request) -> Response:
        return Response(shapes.WebhookList(data=reading.of_agent(self.agent)).body())

    @extend_schema(
        operation_id="create_webhook",
        summary="Register a webhook",
        description="From now on events are posted there, signed as Standard Webhooks 1.0 says. "
        "`secret` is shown in this answer and never again. The address must be public and https; "
        "while one of yours is being looked up, another is refused with 429. It stops when the "
        "token of this call is revoked.",
        tags=["webhooks"],
        request=shapes.WebhookBody,
        responses={201: shapes.WebhookMade, **REFUSALS},
        examples=[
            *_asks(
                url=W_EXAMPLE["url"],
                label=W_EXAMPLE["label"],
                event_types=W_EXAMPLE["event_types"],
            ),
            *_answers({**W_EXAMPLE, "secret": _SECRET_EXAMPLE}, "201"),
        ],
    )
    def post(self, request: Request) -> Response:
        body = self.read(shapes.WebhookBody)
        webhook_addresses.admit_new(self.agent, body.url)
        token = self.known.token_pk
        made = webhooks.create_webhook(self.agent, body, actor=_actor(self), token=token)
        return Response(_shown_once(made), status=201)


class OneWebhook(AgentView):
    @extend_schema(
        operation_id="get_webhook",
        summary="Read a webhook",
        description="As the list shows it.",
        tags=["webhooks"],
        responses={200: shapes.WebhookView, **REFUSALS},
        examples=_answers(W_EXAMPLE, "200"),
    )
    def get(self, request: Request, public_id: str) -> Response:
        return Response(reading.view(reading.find(self.agent, public_id)).body())

    @extend_schema(
        operation_id="change_webhook",
        summary="Change a webhook, switch it on or off",
        description="What is left out stays as it is. One that is switched on goes on with the "
        "event after `after`; set `after` to the newest number to skip what waits. It goes "
        "back over as many events as a replay. A new `url`, or `enabled: true`, ties it to the "
        "token of this call: it stops when that is revoked.",
        tags=["webhooks"],
        request=shapes.WebhookChange,
        responses={200: shapes.WebhookView, **REFUSALS},
        examples=[*_asks(enabled=True), *_answers(W_EXAMPLE, "200")],
    )
    def patch(self, request: Request, public_id: str) -> Response:
        row = reading.find(self.agent, public_id)
        change = self.read(shapes.WebhookChange)
        webhook_addresses.admit_change(row, change.url)
        token = self.known.token_pk
        changed = webhooks.change_webhook(row, change, actor=_actor(self), token=token)
        return Response(reading.view(changed).body())

    @extend_schema(
        operation_id="delete_webhook",
        summary="Delete a webhook",
        description="For good, with the log of its calls.",
        tags=["webhooks"],
        responses={204: OpenApiResponse(description="It is gone."), **REFUSALS},
    )
    def delete(self, request: Request, public_id: str) -> Response:
        webhooks.delete_webhook(reading.find(self.agent, public_id), actor=_actor(self))
        return Response(status=204)


class Rotation(AgentView):
    @extend_schema(
        operation_id="rotate_webhook",
        summary="Rotate the secret of a webhook",
        description="The new secret is shown in this answer and never again. Until "
        "`previous_secret_until` each call carries a signature by the old one, too, so that the "
        "receiver can be changed without losing a call.",
        tags=["webhooks"],
        request=None,
        responses={200: shapes.WebhookMade, **REFUSALS},
        examples=_answers(
            {
                **W_EXAMPLE,
                "previous_secret_until": "2026-12-02T12:00:00.000Z",
                "secret": _SECRET_EXAMPLE,
            },
            "200",
        ),
    )
    def post(self, request: Request, public_id: str) -> Response:
        row = reading.find(self.agent, public_id)
        return Response(_shown_once(webhooks.rotate_secret(row, actor=_actor(self))))


class Trial(AgentView):
    @extend_schema(
        operation_id="test_webhook",
        summary="Test a webhook",
        description="Posts an event of the type `webhook.test` now, and answers what became of "
        "it. Nothing is tried again, and the webhook's state stays as it is. While another test of "
        "yours is under way it is refused with 429.",
        tags=["webhooks"],
        request=None,
        responses={200: shapes.CallView, **REFUSALS},
        examples=_answers(CALL_EXAMPLE, "200"),
    )
    def post(self, request: Request, public_id: str) -> Response:
        row = reading.find(self.agent, public_id)
        return Response(reading.call(webhook_calls.test(row, actor=_actor(self))).body())


class Replay(AgentView):
    @extend_schema(
        operation_id="replay_webhook",
        summary="Have events sent again",
        description="One by its number, or all since a time, in their order and under the same "
        "ids. They are sent by the worker, before anything newer.",
        tags=["webhooks"],
        request=shapes.ReplayBody,
        responses={202: shapes.ReplayView, **REFUSALS},
        examples=[*_asks(since="2026-12-01T09:00:00Z"), *_answers({"events": 12}, "202")],
    )
    def post(self, request: Request, public_id: str) -> Response:
        row = reading.find(self.agent, public_id)
        asked = self.read(shapes.ReplayBody)
        if asked.event is not None:
            count = webhooks.replay_event(row, asked.event, actor=_actor(self))
        else:
            assert asked.since is not None  # noqa: S101  (the body names either)
            count = webhooks.replay_since(row, asked.since, actor=_actor(self))
        return Response(shapes.ReplayView(events=count).body(), status=202)


class Calls(AgentView):
    @extend_schema(
        operation_id="list_webhook_calls",
        summary="List the calls of a webhook",
        description="Oldest first, for thirty days: when, how long, which status. What the "
        "receiver said is shown to the desk's own people alone.",
        tags=["webhooks"],
        parameters=PAGE_PARAMETERS,
        responses={200: shapes.CallPage, **REFUSALS},
        examples=_answers({"data": [CALL_EXAMPLE], "next_after": 7, "has_more": False}, "200"),
    )
    def get(self, request: Request, public_id: str) -> Response:
        row = reading.find(self.agent, public_id)
        query = bodies.page_query(request)
        return Response(reading.calls(row, after=query.after, limit=query.limit).body())


def _actor(view: AgentView) -> str:
    return f"agent:{view.agent.name}"


def _shown_once(made: webhooks.Made) -> dict[str, Any]:
    row = Webhook.objects.select_related("agent").get(pk=made.row.pk)
    return {**reading.view(row).body(), "secret": made.secret}
