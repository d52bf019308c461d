"""What a person is asked before sessions are ended or their links revoked."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from handoff.contract import limits, text
from handoff.contract.kinds import Outcome


class WordsField(forms.CharField):
    """A text that the resume note will quote, cleaned as every text is."""

    widget = forms.Textarea(attrs={"rows": 3, "cols": 60})

    def clean(self, value: Any) -> Any:
        try:
            return text.clean(super().clean(value))
        except text.TextProblem as problem:
            raise ValidationError(str(problem)) from problem


class ReleaseForm(forms.Form):
    outcome = forms.ChoiceField(
        label=_("Outcome"),
        choices=[
            (Outcome.RESOLVED, _("Resolved")),
            (Outcome.UNRESOLVED, _("Could not be resolved")),
            (Outcome.DECLINED, _("Not for us")),
        ],
    )
    message = WordsField(
        required=False,
        max_length=limits.MESSAGE_MAX,
        label=_("Message"),
        help_text=_("The agent and the visitor read it."),
    )


class CancelForm(forms.Form):
    reason = WordsField(
        required=False,
        max_length=limits.MESSAGE_MAX,
        label=_("Reason"),
        help_text=_("The agent, the visitor and the recipient read it."),
    )


class RevokeForm(forms.Form):
    """Nothing to say: the button is the question."""
