"""The parts of Meta's webhook that we read, as frozen values; whatever else it holds is left.

Shapes: channels.md 6.5. A person with a username may have no number (`from`), only a
business-scoped id.
"""

import datetime as dt
from typing import Annotated, Any, Final

import pydantic

from handoff.contract.text import scrub

_Id = Annotated[str, pydantic.StringConstraints(pattern=r"^[\x21-\x7e]{0,200}$")]
_Text = Annotated[str, pydantic.AfterValidator(scrub)]
_ANSWERS_NOTHING: Final = frozenset(
    {"reaction", "system", "request_welcome", "edit", "revoke", "ephemeral"}
)
"""Types that say something about a message or a number, and nothing to us."""


def _without_null(value: Any) -> Any:
    """Meta writes null for absent now and then."""
    if isinstance(value, dict):
        return {key: item for key, item in value.items() if item is not None}
    return value


class _Part(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=True)

    _nulls = pydantic.model_validator(mode="before")(_without_null)


class _Timed(_Part):
    timestamp: str = ""
    """Seconds since the epoch."""

    def at(self) -> dt.datetime | None:
        try:
            return dt.datetime.fromtimestamp(int(self.timestamp), dt.UTC)
        except (ValueError, OverflowError, OSError):
            return None


class _Body(_Part):
    body: _Text = ""


class _Button(_Part):
    text: _Text = ""


class _Choice(_Part):
    title: _Text = ""


class _Interactive(_Part):
    button_reply: _Choice = _Choice()
    list_reply: _Choice = _Choice()


class _File(_Part):
    caption: _Text = ""


class _Context(_Part):
    id: _Id = ""


class ReceivedMessage(_Timed):
    id: Annotated[_Id, pydantic.Field(min_length=1)]
    type: str = ""
    from_: Annotated[_Id, pydantic.Field(alias="from")] = ""
    from_user_id: _Id = ""
    text: _Body = _Body()
    button: _Button = _Button()
    interactive: _Interactive = _Interactive()
    image: _File = _File()
    video: _File = _File()
    document: _File = _File()
    context: _Context = _Context()

    def words(self) -> str:
        """What was written: a text, the words on a button or in a list, or a file's caption."""
        match self.type:
            case "text":
                return self.text.body
            case "button":
                return self.button.text
            case "interactive":
                return self.interactive.button_reply.title or self.interactive.list_reply.title
            case "image" | "video" | "document":
                file: _File = getattr(self, self.type)
                return file.caption
            case _:
                return ""

    def attachments(self) -> int:
        """1 for what is no text and can't be carried, whatever types Meta adds."""
        texts = self.type in ("text", "button") or (self.type == "interactive" and self.words())
        return 0 if texts or not self.type or self.type in _ANSWERS_NOTHING else 1


class ReceivedStatus(_Timed):
    id: Annotated[_Id, pydantic.Field(min_length=1)]
    status: str
    errors: tuple[Any, ...] = ()


class _Profile(_Part):
    name: _Text = ""


class Contact(_Part):
    wa_id: _Id = ""
    user_id: _Id = ""
    profile: _Profile = _Profile()


class _Metadata(_Part):
    phone_number_id: _Id = ""


class Change(_Part):
    metadata: _Metadata = _Metadata()
    contacts: tuple[Contact, ...] = ()
    messages: tuple[Any, ...] = ()
    statuses: tuple[Any, ...] = ()

    def contact_of(self, message: ReceivedMessage) -> Contact:
        """Who sent it, as the change lists people; an empty one when it does not."""
        for contact in self.contacts:
            if message.from_user_id and contact.user_id == message.from_user_id:
                return contact
            if message.from_ and contact.wa_id == message.from_:
                return contact
        return self.contacts[0] if len(self.contacts) == 1 else Contact()
