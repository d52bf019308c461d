"""Files of a chat: a ticket of the conversation uploads one, or opens one for a few minutes."""

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from handoff.actions.admission import admit_ticket
from handoff.actions.files import store
from handoff.actions.refusals import note_refusal
from handoff.actions.tickets import TicketGrant
from handoff.contract.kinds import Author
from handoff.contract.text import readable
from handoff.errors import HandoffError, NotAuthorised, NotYours
from handoff.files.answers import refusal, shared
from handoff.models import Conversation
from handoff.realtime.origins import may_call
from handoff.selectors import files, payloads

PREFLIGHT: Final = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "POST",
    "Access-Control-Allow-Headers": "content-type",
    "Access-Control-Max-Age": "600",
}
"""Says nothing of who may: the call itself is refused to a page that may not."""


@csrf_exempt
@require_http_methods(["POST", "OPTIONS"])
def upload(request: HttpRequest) -> HttpResponse:
    """`POST /files/?ticket=…&name=…` with the content as its body; answers `{id, name, …}`."""
    return _with_ticket(request, _uploaded)


@csrf_exempt
@require_http_methods(["POST", "OPTIONS"])
def link(request: HttpRequest, public_id: str) -> HttpResponse:
    """`POST /files/f_…/link/?ticket=…`: a signed address of a file that was said in the chat."""

    def linked(_: HttpRequest, grant: TicketGrant) -> HttpResponse:
        row = files.in_conversation(grant.conversation_pk, public_id)
        return JsonResponse({"url": files.view_url(row)})

    return _with_ticket(request, linked)


def _with_ticket(
    request: HttpRequest, call: Callable[[HttpRequest, TicketGrant], HttpResponse]
) -> HttpResponse:
    """What the call answers, for whom the ticket lets in; it opens one thing once."""
    if request.method == "OPTIONS":
        return HttpResponse(status=204, headers=PREFLIGHT)
    grant = None
    try:
        grant = admit_ticket(
            request.GET.get("ticket", ""),
            remote=request.META.get("REMOTE_ADDR", ""),
            forwarded=request.headers.get("x-forwarded-for", ""),
        )
        if not may_call(request.headers.get("origin", ""), grant.allowed_origins):
            grant = None
            raise NotYours
        return shared(call(request, grant), request, may_read=True)
    except HandoffError as error:
        if isinstance(error, NotAuthorised | NotYours):
            note_refusal(error, caller=None, tool_call=False)
        return shared(refusal(error), request, may_read=grant is not None)


def _uploaded(request: HttpRequest, grant: TicketGrant) -> HttpResponse:
    row = store(
        Conversation.objects.select_related("agent").get(pk=grant.conversation_pk),
        by=Author(grant.role),
        actor=grant.role,
        name=readable(request.GET.get("name", "")),
        content_type=request.headers.get("content-type", ""),
        content=request,
    )
    return JsonResponse(payloads.file(row).body(), status=201)
