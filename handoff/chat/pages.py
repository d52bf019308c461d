"""The front page and the demo: a chat with a bot that hands over to people."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import get_language
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from handoff.actions.conversations import upsert_conversation
from handoff.actions.tickets import mint_ticket
from handoff.chat import visitors
from handoff.chat.visitors import demo_only
from handoff.contract.turns import ConversationBody, Subscriber
from handoff.models import Agent

AGENT = "demo"
"""The name of the agent that `manage.py demo_setup` makes."""


@require_safe
def front(request: HttpRequest) -> HttpResponse:
    """To the demo where there is one, else to the owners' inbox."""
    return redirect("chat:demo" if settings.DEMO else "inbox:list")


@demo_only
@require_safe
@never_cache
def demo(request: HttpRequest) -> HttpResponse:
    agent = _agent()
    response = render(
        request,
        "chat/demo.html",
        {
            "here": "chat",
            "agent": agent,
            "csrf_cookie": settings.CSRF_COOKIE_NAME,
            "mailbox": not settings.EMAIL_URL,
        },
    )
    visitors.remember(response, request, visitors.known(request) or visitors.new_visitor())
    return response


@demo_only
@require_POST
@never_cache
def ticket(request: HttpRequest) -> HttpResponse:
    """A socket ticket for this browser's conversation, which is made on first use."""
    visitor = visitors.known(request) or visitors.new_visitor()
    conversation, _ = upsert_conversation(
        _agent(),
        ConversationBody(
            external_id=visitor,
            subscriber=Subscriber(name="Demo visitor", locale=get_language() or ""),
        ),
    )
    minted = mint_ticket(conversation, role="subscriber")
    body = minted.body()
    # our own page connects to where it came from, whatever the public address is
    scheme = "wss" if request.is_secure() else "ws"
    body["url"] = f"{scheme}://{request.get_host()}/ws/chat?ticket={minted.ticket}"
    response = JsonResponse(body, status=201)
    visitors.remember(response, request, visitor)
    return response


@demo_only
@require_POST
def again(request: HttpRequest) -> HttpResponse:
    """A new conversation for this browser; the old one stays with the owners."""
    response = redirect(reverse("chat:demo"))
    visitors.remember(response, request, visitors.new_visitor())
    return response


def _agent() -> Agent:
    agent = Agent.objects.filter(name=AGENT, enabled=True).first()
    if agent is None:
        raise Http404("There is no enabled agent “demo”. Run: python manage.py demo_setup")
    return agent
