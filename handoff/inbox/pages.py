"""The pages of the owner inbox: the list, a conversation, a detached handoff."""

import dataclasses
from collections.abc import Iterator

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from handoff.contract import limits
from handoff.contract.text import one_line
from handoff.inbox import filters
from handoff.inbox.forms import (
    OUTCOMES,
    CancelForm,
    HolderForm,
    ReleaseForm,
    ReplyForm,
    new_client_id,
)
from handoff.models import Session
from handoff.selectors import inboxes, inboxfilters, inboxlists, inboxwords, threads


class OwnerRequest(HttpRequest):
    """A request behind `login_required`."""

    user: User


@dataclasses.dataclass(frozen=True, kw_only=True)
class Typed:
    """What somebody typed that could not be taken: it stands on the page again."""

    handoff: str = ""
    reply: ReplyForm | None = None
    release: ReleaseForm | None = None
    cancel: CancelForm | None = None
    holder: HolderForm | None = None
    unsent: str = ""
    """A reply that came too late, to be copied."""
    link: str = ""
    """A return link that somebody asked for, to be copied."""

    def problems(self) -> Iterator[str]:
        for form in (self.reply, self.release, self.cancel, self.holder):
            for listed in form.errors.values() if form else ():
                yield from map(str, listed)


NOTHING_TYPED = Typed()


@never_cache
@login_required
@require_safe
def overview(request: OwnerRequest) -> HttpResponse:
    wanted = filters.read(request.GET)
    group = request.GET.get("group", "")
    user_pk = request.user.pk
    context: dict[str, object] = {
        "wanted": wanted,
        "group": group if group in list(inboxlists.Group) else "",
        "groups": list(inboxlists.Group),
        "urgencies": inboxwords.URGENCIES.items(),
        "choices": inboxfilters.choices(user_pk),
        "waiting": inboxes.waiting(user_pk),
    }
    if wanted.search:
        context["searched_all"] = inboxlists.searches_all(user_pk, wanted)
        context["done_max"] = inboxlists.DONE_MAX
    if context["group"]:
        number = request.GET.get("page", "1")
        one = inboxlists.Group(group)
        context["page"] = inboxlists.page(user_pk, one, number=number, wanted=wanted)
    else:
        context["overview"] = inboxlists.overview(user_pk, wanted=wanted)
    return render(request, "inbox/list.html", context)


@never_cache
@login_required
@require_safe
def alerts(request: OwnerRequest) -> HttpResponse:
    """Who waits, and nothing else: what a page reads again that shows what was searched."""
    return render(request, "inbox/alerts.html", {"waiting": inboxes.waiting(request.user.pk)})


@never_cache
@login_required
@require_safe
def conversation(request: OwnerRequest, conversation: str) -> HttpResponse:
    found = threads.of_conversation(
        request.user.pk,
        conversation,
        before=filters.number(request.GET.get("before", "")),
        after=filters.number(request.GET.get("after", "")),
    )
    if found is None:
        raise Http404
    return show(request, found)


@never_cache
@login_required
@require_safe
def detached(request: OwnerRequest, handoff: str) -> HttpResponse:
    session = owned(request, handoff)
    if session.conversation is not None:
        return redirect(address(session))
    return show(request, threads.of_detached(request.user.pk, session))


def owned(request: OwnerRequest, handoff: str) -> Session:
    """The owner's handoff; Http404 for another owner's and for none."""
    session = inboxes.session_of(request.user.pk, handoff)
    if session is None:
        raise Http404
    return session


def address(session: Session) -> str:
    """The page on which a handoff stands."""
    conversation = session.conversation
    return _address(conversation.public_id if conversation else "", session.public_id)


def _address(conversation: str, handoff: str) -> str:
    if conversation:
        return reverse("inbox:conversation", args=[conversation])
    return reverse("inbox:handoff", args=[handoff])


def thread_of(request: OwnerRequest, session: Session) -> threads.Thread:
    """The page of an owner's handoff, as it is now."""
    if session.conversation is None:
        return threads.of_detached(request.user.pk, owned(request, session.public_id))
    found = threads.of_conversation(request.user.pk, session.conversation.public_id)
    if found is None:
        raise Http404
    return found


def show(
    request: OwnerRequest,
    thread: threads.Thread,
    *,
    status: int = 200,
    problem: str = "",
    typed: Typed = NOTHING_TYPED,
) -> HttpResponse:
    """The page; with `problem`, what was typed stands on it again."""
    context = {
        "thread": thread,
        "problem": problem,
        "typed": typed,
        "reply": typed.reply or ReplyForm(initial={"client_id": new_client_id()}),
        "outcomes": OUTCOMES,
        "file_types": ",".join(settings.FILE_TYPES),
        "waiting": inboxes.waiting(request.user.pk),
        "from_top": "after" in request.GET,
        "here": _address(thread.conversation, thread.detached)
        if request.method == "POST"
        else request.get_full_path(),
    }
    return render(request, "inbox/conversation.html", context, status=status)


def own_name(request: OwnerRequest) -> str:
    """What the subscriber and the trail call the owner."""
    user = request.user
    return one_line(user.get_full_name() or user.get_username())[: limits.NAME_MAX]
