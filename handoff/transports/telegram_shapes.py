"""The parts of an update that we read, typed; what else is in it is left there."""

from typing import Annotated

import pydantic

type Number = Annotated[int, pydantic.Field(ge=-(2**63), lt=2**63)]


class _Part(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True)


class User(_Part):
    id: Number
    is_bot: bool = False
    first_name: str = ""
    last_name: str = ""
    username: str = ""


class Chat(_Part):
    id: Number
    type: str = ""
    title: str = ""


class Original(_Part):
    """The message that another one answers."""

    message_id: Number
    sender: Annotated[User | None, pydantic.Field(alias="from")] = None


class Message(_Part):
    message_id: Number
    date: int = 0
    chat: Chat
    sender: Annotated[User | None, pydantic.Field(alias="from")] = None
    sender_chat: Chat | None = None
    """Who speaks when it is not a person by name: an anonymous administrator, a channel."""
    text: str = ""
    caption: str = ""
    message_thread_id: Number | None = None
    is_topic_message: bool = False
    is_automatic_forward: bool = False
    """A post of the channel that the group belongs to."""
    reply_to_message: Original | None = None
    migrate_to_chat_id: Number | None = None
    migrate_from_chat_id: Number | None = None


class Update(_Part):
    update_id: Number
    message: Message
