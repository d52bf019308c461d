"""Form fields from a transport's settings model: typed, explained, secrets never sent back."""

import dataclasses
import re
import types
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, Literal, Union, get_args, get_origin

from django import forms
from django.utils.html import escape
from django.utils.translation import gettext as _
from pydantic.fields import FieldInfo

from handoff.models import Channel
from handoff.models.sealed import Unreadable
from handoff.transports.base import TransportSettings

SETTING: Final = "setting_"
REMOVE: Final = "remove_"
_ABBREVIATIONS: Final = {
    "url": "URL",
    "smtp": "SMTP",
    "imap": "IMAP",
    "id": "ID",
    "api": "API",
    "waba": "WABA",
}


@dataclasses.dataclass(frozen=True)
class Stored:
    """What a channel has now. `unreadable`: its keys are lost and all has to be entered again."""

    values: Mapping[str, Any]
    unreadable: bool = False


def stored_settings(channel: Channel | None) -> Stored:
    if channel is None:
        return Stored({})
    try:
        return Stored(channel.opened_settings())
    except Unreadable:
        return Stored({}, unreadable=True)


def setting_fields(model: type[TransportSettings], stored: Stored) -> dict[str, forms.Field]:
    """The fields of a form that edits such settings, by form name, in the model's order.

    A secret that is stored gets no initial value and may stay empty; one that may also be absent
    gets a box that removes it. One that we make gets a box alone, for a new one.
    """
    fields: dict[str, forms.Field] = {}
    for key, info in model.model_fields.items():
        if key in model.dormant_keys:
            continue
        value = stored.values.get(key)
        if key in model.made_keys:
            if value or stored.unreadable:
                fields[REMOVE + key] = forms.BooleanField(
                    required=False,
                    label=_("Make a new %(name)s") % {"name": label_of(key)},
                    help_text=escape(info.description or ""),
                    initial=stored.unreadable,
                )
        elif key in model.secret_keys:
            fields[SETTING + key] = _secret(key, info, kept=bool(value))
            if value and not info.is_required():
                fields[REMOVE + key] = forms.BooleanField(
                    required=False, label=_("Remove the stored %(name)s") % {"name": label_of(key)}
                )
        else:
            initial = value if key in stored.values else _default(info)
            fields[SETTING + key] = _field(key, info, initial=initial)
    return fields


def entered_settings(
    model: type[TransportSettings], cleaned: Mapping[str, Any], stored: Stored
) -> dict[str, Any]:
    """What the form says, as the model takes it: empty is absent, an untouched secret stays."""
    settings: dict[str, Any] = {}
    for key in model.model_fields:
        value = cleaned.get(SETTING + key)
        secret = key in model.secret_keys or key in model.made_keys
        stays = key in model.dormant_keys or (secret and not cleaned.get(REMOVE + key))
        if value not in (None, "", []):
            settings[key] = value
        elif stays and key in stored.values:
            settings[key] = stored.values[key]
    return settings


def label_of(key: str) -> str:
    """`smtp_url` as “SMTP URL”, `from_name` as “From name”."""
    words = " ".join(_ABBREVIATIONS.get(word, word) for word in key.split("_"))
    return words[:1].upper() + words[1:]


class LinesField(forms.CharField):
    """Several texts, divided by line breaks, commas or semicolons."""

    widget = forms.Textarea(attrs={"rows": 2, "cols": 60, "spellcheck": "false"})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(map(str, value)) if isinstance(value, list | tuple) else value

    def clean(self, value: Any) -> Any:
        parts = re.split(r"[\n,;]+", super().clean(value))
        return [part.strip() for part in parts if part.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return super().has_changed(self.prepare_value(initial or ()), data)


def _secret(key: str, info: FieldInfo, *, kept: bool) -> forms.Field:
    hint = _("Stored, and never shown again. Leave empty to keep it.") if kept else ""
    attrs = {"autocomplete": "new-password", "size": "50", "spellcheck": "false"}
    return forms.CharField(
        required=info.is_required() and not kept,
        label=label_of(key),
        help_text=escape(" ".join(filter(None, (hint, info.description)))),
        strip=True,
        widget=forms.PasswordInput(
            attrs={**attrs, "placeholder": "••••••••"} if kept else attrs, render_value=False
        ),
    )


def _field(key: str, info: FieldInfo, *, initial: Any) -> forms.Field:
    given: dict[str, Any] = {
        "label": label_of(key),
        "help_text": escape(info.description or ""),
        "initial": initial,
        "required": info.is_required(),
    }
    type_ = _plain(info.annotation)
    if type_ is bool:
        return forms.BooleanField(**{**given, "required": False})
    if type_ is int:
        return forms.IntegerField(**given)
    if isinstance(type_, type) and issubclass(type_, StrEnum):
        return forms.ChoiceField(choices=[(str(item), str(item)) for item in type_], **given)
    if get_origin(type_) is Literal:
        return forms.ChoiceField(choices=[(str(i), str(i)) for i in get_args(type_)], **given)
    if get_origin(type_) in (tuple, list):
        return LinesField(**given)
    if type_ is str:
        attrs = {"size": "50", "class": "vTextField", "autocomplete": "off"}
        return forms.CharField(widget=forms.TextInput(attrs=attrs), **given)
    raise TypeError(f"no form field for {key}: {type_!r}")


def _plain(annotation: Any) -> Any:
    """The type without `| None` and without what `Annotated` adds."""
    if hasattr(annotation, "__metadata__"):
        return _plain(annotation.__origin__)
    if get_origin(annotation) in (Union, types.UnionType):
        return _plain(next(arg for arg in get_args(annotation) if arg is not types.NoneType))
    return annotation


def _default(info: FieldInfo) -> Any:
    return None if info.is_required() else info.get_default(call_default_factory=False)


def made_anew(model: type[TransportSettings], posted: Mapping[str, Any]) -> tuple[str, ...]:
    """The keys for which a form that was sent asked us to make a new secret."""
    return tuple(key for key in sorted(model.made_keys) if posted.get(REMOVE + key))
