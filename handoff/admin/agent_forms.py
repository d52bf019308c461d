"""The forms for an agent and for a new token."""

import ipaddress
import re
from typing import TYPE_CHECKING, Any, Final
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


_LABEL: Final = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_PORTS: Final = {"http": 80, "https": 443}


class OriginsField(forms.CharField):
    """Origins, one a line, as the list of texts that a browser sends in `Origin`."""

    widget = forms.Textarea(attrs={"rows": 3, "cols": 50, "spellcheck": "false"})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> Any:
        """Without repeats; raises ValidationError with every line that is no origin."""
        found: list[str] = []
        problems: list[ValidationError] = []
        for line in super().clean(value).split():
            try:
                found.append(origin(line))
            except ValidationError as problem:
                problems.append(problem)
        if problems:
            raise ValidationError(problems)
        return list(dict.fromkeys(found))

    def has_changed(self, initial: Any, data: Any) -> bool:
        return super().has_changed(self.prepare_value(initial or []), data)


def origin(text: str) -> str:
    """A site as browsers name it: in ASCII, without the port that goes without saying.

    Raises ValidationError for whatever a browser never sends, such as a wildcard or a path.
    """
    if "*" in text:
        raise ValidationError(
            _("“%(text)s” stands for many sites: name each one on a line of its own.")
            % {"text": text}
        )
    try:
        parts = urlsplit(text.lower())
        scheme, host, port = parts.scheme, _ascii(parts.hostname or ""), parts.port
        bare = text.lower().removesuffix("/") == f"{scheme}://{parts.netloc}"
    except ValueError:
        scheme, host, port, bare = "", "", None, False
    if scheme not in _PORTS or not host or port == 0 or not bare or "@" in parts.netloc:
        raise ValidationError(
            _("“%(text)s” is not an origin: write it as https://shop.example, without a path.")
            % {"text": text}
        )
    return f"{scheme}://{host}" if port in (None, _PORTS[scheme]) else f"{scheme}://{host}:{port}"


def _ascii(host: str) -> str:
    """A name or an address; raises ValueError for what is neither, or has no certain spelling."""
    if ":" in host:
        return f"[{ipaddress.IPv6Address(host).compressed}]"
    spelled = host.encode("idna")
    if not host.isascii() and spelled.decode("idna") != host:
        raise ValueError("browsers may spell it in another way")
    labels = spelled.decode("ascii").split(".")
    if not all(map(_LABEL.fullmatch, labels)):
        raise ValueError("not a host name")
    return ".".join(labels)


class AgentForm(ModelForm):
    allowed_origins = OriginsField(
        required=False,
        label=gettext_lazy("Allowed origins"),
        help_text=gettext_lazy(
            "Sites that may embed its chat, one a line, such as https://shop.example. "
            "A page of any other site is refused. Empty: only this desk’s own pages."
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
