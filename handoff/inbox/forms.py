"""What an owner types. Texts pass the same border as everything that is stored."""

import dataclasses
import secrets
from typing import Final

from django import forms
from django.utils.translation import gettext_lazy

from handoff.contract import limits
from handoff.contract.commands import ReleaseCommand, read_release
from handoff.contract.kinds import Outcome
from handoff.contract.text import scrub

BIGGEST: Final = 2**63 - 1
"""The largest number of a row that a database holds."""
OUTCOMES = [
    (Outcome.RESOLVED.value, gettext_lazy("Resolved")),
    (Outcome.UNRESOLVED.value, gettext_lazy("Could not be resolved")),
    (Outcome.DECLINED.value, gettext_lazy("Not ours to answer")),
]


def new_client_id() -> str:
    """Names one reply, so that the same form sent twice says it once."""
    return secrets.token_urlsafe(18)


class CleanText(forms.CharField):
    """Text as it is stored; its length is counted after trimming, with line ends as one.

    A character that cannot be stored is replaced, so that it stops nobody.
    """

    def to_python(self, value: object) -> str:
        return scrub(str(value or ""))


class ReplyForm(forms.Form):
    client_id = forms.CharField(max_length=limits.CLIENT_ID_MAX, widget=forms.HiddenInput)
    text = CleanText(
        label=gettext_lazy("Reply"),
        max_length=limits.TURN_TEXT_MAX,
        widget=forms.Textarea,
        error_messages={"required": gettext_lazy("Write something first.")},
    )


class ReleaseForm(forms.Form):
    outcome = forms.ChoiceField(
        choices=OUTCOMES,
        error_messages={"required": gettext_lazy("Choose an outcome.")},
    )
    message = CleanText(required=False, max_length=limits.MESSAGE_MAX)
    line = CleanText(required=False)
    """`/release TOKEN` as it stood in the dispatch, or the token alone."""

    def command(self, message: str) -> ReleaseCommand | None:
        """What a filled line asks for, with `message` after its own note; None for an empty one."""
        line = self.cleaned_data["line"]
        if not line:
            return None
        found = read_release(line) or read_release(f"/release {line}") or ReleaseCommand(token="")
        said = "\n".join(filter(None, (found.rest, message)))
        return dataclasses.replace(found, rest=said)


class CancelForm(forms.Form):
    reason = CleanText(required=False, max_length=limits.MESSAGE_MAX)


class HolderForm(forms.Form):
    """Who shall hold the handoff, and who held it when the page was made; nobody is empty."""

    to = forms.IntegerField(
        min_value=1,
        max_value=BIGGEST,
        error_messages={
            "required": gettext_lazy("Choose an owner."),
            "invalid": gettext_lazy("Choose an owner."),
            "max_value": gettext_lazy("Choose an owner."),
        },
    )
    held_by = forms.IntegerField(min_value=1, max_value=BIGGEST, required=False)
