"""The forms for a webhook, and for what is to be sent again."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from handoff.contract.kinds import EventType
from handoff.contract.limits import EVENT_ID_MAX
from handoff.contract.webhooks import URL_MAX, WEBHOOKS_MAX, Payload, checked_url
from handoff.models import Webhook

if TYPE_CHECKING:
    ModelForm = forms.ModelForm[Webhook]
else:
    ModelForm = forms.ModelForm


class WebhookForm(ModelForm):
    unreachable = ""
    """Why the address that was entered cannot be called: looked up before the form is read."""

    url = forms.CharField(
        max_length=URL_MAX,
        label=gettext_lazy("Address"),
        widget=forms.URLInput(attrs={"class": "vURLField", "spellcheck": "false"}),
        help_text=gettext_lazy(
            "Public, and https on port 443 or 8443. Hosts in HANDOFF_PRIVATE_TARGETS may be "
            "inside your network, on any port and plain http."
        ),
    )
    event_types = forms.MultipleChoiceField(
        required=False,
        choices=[(name.value, name.value) for name in EventType],
        label=gettext_lazy("Event types"),
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("None: all of them."),
    )
    payload = forms.ChoiceField(
        choices=[
            (Payload.FULL.value, gettext_lazy("Full: the event as the API shows it")),
            (Payload.THIN.value, gettext_lazy("Thin: its type and ids alone")),
        ],
        initial=Payload.FULL.value,
        label=gettext_lazy("What is sent"),
    )
    skip = forms.BooleanField(
        required=False,
        label=gettext_lazy("Skip what waits"),
        help_text=gettext_lazy(
            "Start with what happens from now on. Otherwise it goes on where it stopped."
        ),
    )

    class Meta:
        model = Webhook
        fields = ("agent", "label", "url", "event_types", "payload", "enabled")

    def clean_url(self) -> str:
        try:
            url = checked_url(self.cleaned_data["url"].strip())
        except ValueError as problem:
            raise ValidationError(_("It %(problem)s.") % {"problem": problem}) from problem
        if self.unreachable:
            raise ValidationError(_("It %(problem)s.") % {"problem": self.unreachable})
        return url

    def clean_agent(self) -> Any:
        agent = self.cleaned_data["agent"]
        if Webhook.objects.filter(agent=agent).count() >= WEBHOOKS_MAX:
            raise ValidationError(
                _("This agent has %(number)d webhooks already.") % {"number": WEBHOOKS_MAX}
            )
        return agent


class ReplayForm(forms.Form):
    event = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=EVENT_ID_MAX,
        label=gettext_lazy("One event"),
        help_text=gettext_lazy("Its number in the event log of the agent."),
    )
    since = forms.DateTimeField(
        required=False,
        label=gettext_lazy("Everything since"),
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
        help_text=gettext_lazy("In the time zone of this desk. In order, before anything newer."),
    )

    def clean(self) -> dict[str, Any]:
        entered = super().clean() or {}
        if not self.errors and (entered.get("event") is None) == (entered.get("since") is None):
            raise ValidationError(_("Fill in one of the two."))
        return entered
