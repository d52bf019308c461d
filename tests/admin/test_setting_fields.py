"""Form fields from the settings of a transport."""

from typing import ClassVar, Literal

from handoff.admin.setting_fields import Stored, entered_settings, setting_fields
from handoff.transports.base import TransportSettings


class Shapes(TransportSettings):
    """Every shape that a setting may have."""

    secret_keys: ClassVar[frozenset[str]] = frozenset({"bot_token"})

    bot_token: str
    """Holds <angle brackets>."""
    chat_id: int
    topic_id: int | None = None
    mode: Literal["webhook", "poll"] = "webhook"
    unfurl: bool = True
    names: tuple[str, ...] = ()


def test_each_shape_of_a_setting_has_its_field() -> None:
    fields = setting_fields(Shapes, Stored({"bot_token": "t0ken", "names": ["a", "b"]}))
    assert {name: type(field).__name__ for name, field in fields.items()} == {
        "setting_bot_token": "CharField",
        "setting_chat_id": "IntegerField",
        "setting_topic_id": "IntegerField",
        "setting_mode": "ChoiceField",
        "setting_unfurl": "BooleanField",
        "setting_names": "LinesField",
    }
    assert not fields["setting_bot_token"].required
    assert "&lt;angle" in fields["setting_bot_token"].help_text
    assert fields["setting_chat_id"].required
    assert not fields["setting_topic_id"].required
    assert fields["setting_bot_token"].initial is None


def test_what_is_entered_becomes_settings() -> None:
    cleaned = {"setting_chat_id": 5, "setting_topic_id": None, "setting_unfurl": False}
    stored = Stored({"bot_token": "t0ken", "mode": "poll"})
    assert entered_settings(Shapes, cleaned, stored) == {
        "bot_token": "t0ken",
        "chat_id": 5,
        "unfurl": False,
    }
