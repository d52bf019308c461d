"""What a person may do to a session from the admin, each a question and one action."""

import dataclasses
from collections.abc import Callable
from typing import Any, Final

from django import forms
from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from handoff.actions.endings import cancel, release_as_owner
from handoff.actions.revoke_links import revoke_links
from handoff.admin.desk import actor_of
from handoff.admin.session_forms import CancelForm, ReleaseForm, RevokeForm
from handoff.contract.kinds import Outcome
from handoff.models import Session

type Act = Callable[[HttpRequest, Session, dict[str, Any]], bool]
"""What the form asked for, done to one session; False when there was nothing to do."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Verb:
    title: Promise
    sentence: Promise
    form: type[forms.Form]
    act: Act


def _release(request: HttpRequest, session: Session, entered: dict[str, Any]) -> bool:
    return release_as_owner(
        session,
        user_pk=request.user.pk or 0,
        name=request.user.get_username(),
        outcome=Outcome(entered["outcome"]),
        message=entered["message"],
    )


def _cancel(request: HttpRequest, session: Session, entered: dict[str, Any]) -> bool:
    return cancel(session, reason=entered["reason"], actor=actor_of(request))


def _revoke(request: HttpRequest, session: Session, entered: dict[str, Any]) -> bool:
    return revoke_links(session, actor=actor_of(request)) > 0


VERBS: Final = {
    "release": Verb(
        title=_("Release without values"),
        sentence=_("The agent takes over again. A form that is sent later is a late return."),
        form=ReleaseForm,
        act=_release,
    ),
    "cancel": Verb(
        title=_("Cancel the handoff"),
        sentence=_("The handoff is withdrawn, and its recipient is told."),
        form=CancelForm,
        act=_cancel,
    ),
    "revoke-links": Verb(
        title=_("Revoke the return links"),
        sentence=_("Nobody can answer through the links that were sent. The handoff goes on."),
        form=RevokeForm,
        act=_revoke,
    ),
}
