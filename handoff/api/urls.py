"""`/api/`: the tools, the resources, and the document that describes them."""

from django.urls import path, re_path

from handoff.api import reference_page, resources, webhooks
from handoff.api.tool_calls import OpenBotCalls, ToolCalls
from handoff.api.tools import Tools

app_name = "api"
urlpatterns = [
    path("agent-tools/call", OpenBotCalls.as_view(), name="openbot-calls"),
    path("v1/tool-calls", ToolCalls.as_view(), name="tool-calls"),
    path("v1/tools", Tools.as_view(), name="tools"),
    path("v1/me", resources.Me.as_view(), name="me"),
    path("v1/channels", resources.Channels.as_view(), name="channels"),
    path("v1/conversations", resources.Conversations.as_view(), name="conversations"),
    path(
        "v1/conversations/<str:public_id>",
        resources.OneConversation.as_view(),
        name="conversation",
    ),
    path(
        "v1/conversations/<str:public_id>/messages",
        resources.Messages.as_view(),
        name="messages",
    ),
    path("v1/conversations/<str:public_id>/tickets", resources.Tickets.as_view(), name="tickets"),
    path("v1/handoffs", resources.Handoffs.as_view(), name="handoffs"),
    path("v1/handoffs/<str:public_id>", resources.OneHandoff.as_view(), name="handoff"),
    path("v1/inbox", resources.Inbox.as_view(), name="inbox"),
    path("v1/inbox/<str:public_id>/claim", resources.Claim.as_view(), name="claim"),
    path("v1/events", resources.Events.as_view(), name="events"),
    path("v1/webhooks", webhooks.Webhooks.as_view(), name="webhooks"),
    path("v1/webhooks/<str:public_id>", webhooks.OneWebhook.as_view(), name="webhook"),
    path("v1/webhooks/<str:public_id>/rotate", webhooks.Rotation.as_view(), name="webhook-rotate"),
    path("v1/webhooks/<str:public_id>/test", webhooks.Trial.as_view(), name="webhook-test"),
    path("v1/webhooks/<str:public_id>/replay", webhooks.Replay.as_view(), name="webhook-replay"),
    path("v1/webhooks/<str:public_id>/calls", webhooks.Calls.as_view(), name="webhook-calls"),
    path("v1/openapi.json", reference_page.openapi, name="openapi"),
    path("v1/docs", reference_page.docs, name="docs"),
    re_path("", resources.Nothing.as_view()),
]
