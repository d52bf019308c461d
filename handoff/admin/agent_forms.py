"""The forms for an agent and for a new token."""

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from handoff.models import Agent, Token

if TYPE_CHECKING:
    ModelForm = forms.ModelForm[Agent]
else:
    ModelForm = forms.ModelForm


class OriginsField(forms.CharField):
    """Origins, one a line, as the list of texts that a browser sends in `Origin`."""

    widget = forms.Textarea(attrs={"rows": 3, "cols": 50, "spellcheck": "false"})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> Any:
        return [self._origin(line) for line in super().clean(value).split()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return super().has_changed(self.prepare_value(initial or []), data)

    def _origin(self, text: str) -> str:
        try:
            parts = urlsplit(text.lower())
            usable = (
                parts.scheme in ("http", "https")
                and bool(parts.hostname)
                and text.lower().rstrip("/") == f"{parts.scheme}://{parts.netloc}"
                and "@" not in parts.netloc
                and (parts.port is None or parts.port > 0)
            )
        except ValueError:
            usable = False
        if not usable:
            raise ValidationError(
                _("“%(text)s” is not an origin: write it as https://shop.example, without a path.")
                % {"text": text}
            )
        return f"{parts.scheme}://{parts.netloc}"


class AgentForm(ModelForm):
    allowed_origins = OriginsField(
        required=False,
        label=gettext_lazy("Allowed origins"),
        help_text=gettext_lazy(
            "Sites that may embed its chat, one a line, such as https://shop.example. "
            "Empty: only this desk’s own pages."
        ),
    )

    class Meta:
        model = Agent
        fields = ("name", "display_name", "enabled", "owners", "allowed_origins")


class TokenForm(forms.Form):
    label = forms.CharField(
        max_length=100,
        required=False,
        label=gettext_lazy("Label"),
        help_text=gettext_lazy("Where it is used, such as “production bot”."),
    )
    expires_at = forms.DateTimeField(
        required=False,
        label=gettext_lazy("Expires"),
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
        help_text=gettext_lazy("Empty: when it is revoked."),
    )

    def clean_label(self) -> Any:
        return Token._meta.get_field("label").clean(self.cleaned_data["label"], None)

    def clean_expires_at(self) -> Any:
        expires_at = self.cleaned_data["expires_at"]
        if expires_at is not None and expires_at <= now():
            raise ValidationError(_("Choose a time that is still to come."))
        return expires_at
