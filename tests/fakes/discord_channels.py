"""A channel or a thread of the fake Discord, and what the bot may do in it."""

import dataclasses
from typing import Any, Final

from tests.fakes.discord_calls import GUILD

CATEGORY: Final = "3333333333333333333"
TEXT, FORUM, THREAD = 0, 15, 11


@dataclasses.dataclass(kw_only=True)
class Channel:
    id: str
    type: int = TEXT
    name: str = "support"
    parent_id: str | None = CATEGORY
    is_seen: bool = True
    may_write: bool = True
    may_thread: bool = True
    has_history: bool = True
    is_locked: bool = False
    is_archived: bool = False

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "id": self.id,
            "type": self.type,
            "name": self.name,
            "parent_id": self.parent_id,
            "guild_id": GUILD,
        }
        if self.type == THREAD:
            found["thread_metadata"] = {"archived": self.is_archived, "locked": self.is_locked}
        return found
