"""The form of one channel: the options of every channel, and the settings of its kind alone."""

import zoneinfo
from typing import TYPE_CHECKING, Any, ClassVar

import pydantic
from django import forms
from django.conf import settings
from django.core.exceptions import NON_FIELD_ERRORS
from django.utils.translation import gettext as _

from handoff.actions.channel_options import OPTIONS
from handoff.admin.setting_fields import SETTING, Stored, entered_settings, setting_fields
from handoff.contract.wording import problems_of
from handoff.models import Channel
from handoff.transports import transport_class
from handoff.transports.base import TransportSettings

if TYPE_CHECKING:
    ModelForm = forms.ModelForm[Channel]
else:
    ModelForm = forms.ModelForm


class ChannelForm(ModelForm):
    """Base of the forms that `channel_form` makes. `config()` is for the action, once valid."""

    kind: ClassVar[str]
    settings_model: ClassVar[type[TransportSettings]]
    stored: ClassVar[Stored]

    class Meta:
        model = Channel
        fields = ("agent", "label", *OPTIONS)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.instance.kind = self.kind
        self.settings: dict[str, Any] = {}
        if "language" in self.fields:
            self.fields["language"] = self._choice("language", settings.LANGUAGES)
        if "timezone" in self.fields:
            names = sorted(zoneinfo.available_timezones())
            self.fields["timezone"] = self._choice("timezone", [(name, name) for name in names])

    def _choice(self, name: str, choices: list[tuple[str, str]]) -> forms.ChoiceField:
        """A list to choose from, with what is stored in it, whatever that is."""
        now = getattr(self.instance, name)
        known = [*choices] if now in dict(choices) else [(now, now), *choices]
        plain = self.fields[name]
        return forms.ChoiceField(
            choices=known, label=plain.label, help_text=plain.help_text, initial=plain.initial
        )

    def clean(self) -> dict[str, Any]:
        """Checks the settings as the transport will: every problem, beside its own field."""
        cleaned = super().clean() or self.cleaned_data
        self.settings = entered_settings(self.settings_model, cleaned, self.stored)
        try:
            self.settings_model.model_validate(self.settings)
        except pydantic.ValidationError as error:
            for problem in problems_of(error):
                self._say(problem["field"], problem["problem"])
        return cleaned

    def _say(self, where: str, problem: str) -> None:
        key, _dot, place = where.partition(".")
        if SETTING + key in self.errors:
            return
        if place.isdigit():
            problem = _("Entry %(number)d %(problem)s") % {
                "number": int(place) + 1,
                "problem": problem,
            }
        known = SETTING + key in self.fields
        self.add_error(
            SETTING + key if known else NON_FIELD_ERRORS,
            problem[:1].upper() + problem[1:] if known else f"{key}: {problem}",
        )

    def config(self) -> dict[str, Any]:
        """Settings and options as `actions.channels` takes them."""
        options = {key: self.cleaned_data[key] for key in OPTIONS if key in self.cleaned_data}
        return {**self.settings, **options}


def channel_form(kind: str, stored: Stored) -> type[ChannelForm]:
    """The form class for one kind; KeyError or ValueError for a kind that we do not carry."""
    model = transport_class(kind).settings_model
    return type(
        "ChannelFormOfKind",
        (ChannelForm,),
        {
            **setting_fields(model, stored),
            "kind": kind,
            "settings_model": model,
            "stored": stored,
        },
    )
