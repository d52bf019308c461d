"""The whole flow as its outside actors do it, again and again until they are answered."""

import dataclasses
import secrets
from typing import Any, Final

from tests import factories
from tests.reliability.doors import Doors, Reply, session_of
from tests.reliability.mails import Mails
from tests.reliability.rows import Rows

RELAY_PATIENCE_SECONDS: Final = 0.5
LINK_LIVES: Final = frozenset({200, 410})
"""410 is the page that says how it ended; an unknown link gets a 404."""


def new_mark() -> str:
    return f"mark{secrets.token_hex(8)}"


@dataclasses.dataclass
class Story:
    """One handoff: asked for with a key, a line of the subscriber, an answer or a cancel."""

    number: int
    mark: str = dataclasses.field(default_factory=new_mark)
    session: str = ""
    told: str = ""
    """What the agent was told: the code of a refusal, else `started` or `ended`."""
    routed_to: str = ""
    answered: bool = False
    done: bool = False

    def advance(self, doors: Doors, mails: Mails) -> None:
        """As far as it goes now; raises Gone when the server went away."""
        if not self.told and not self._ask(doors):
            return
        if not self.routed_to:
            self._say(doors, mails)
        token = mails.token(self.session)
        if self.number % 5 == 4:
            reply = doors.tool("handoff_cancel", {"handoff_session_id": self.session})
            self.done = _is_clear(reply)
        elif token is None:
            self.done = True  # the person got nothing, so nobody can answer
        else:
            reply = doors.form(token, self.mark, order_status="shipped", notes=self.mark)
            assert reply.status in (200, 503), reply.text
            self.answered = self.done = reply.status == 200

    def arguments(self, doors: Doors) -> dict[str, Any]:
        return {
            "channel_id": doors.seed.email,
            "summary": f"{self.mark} {factories.SUMMARY}",
            "expected_action": factories.EXPECTED_ACTION,
            "expected_return": factories.FIELDS,
        }

    def _ask(self, doors: Doors) -> bool:
        """True once there is an answer that does not ask to be asked again."""
        reply = doors.tool(
            "handoff_request", self.arguments(doors), conversation=self.mark, key=self.mark
        )
        if not _is_clear(reply):
            return False
        result = reply.json["result"]
        self.session = session_of(reply)
        assert self.session, reply.text
        self.told = result.get("code") or ("started" if "action" in result else "ended")
        return True

    def _say(self, doors: Doors, mails: Mails) -> None:
        reply = doors.say(doors.conversation(self.mark), self.mark, client_id=self.mark)
        if reply.status != 201:
            assert reply.status == 503, reply.text
            return
        self.routed_to = reply.json["message"]["routed_to"]
        if self.routed_to == "recipient" and self.number % 2:
            mails.wait_for_mark(self.session, self.mark, seconds=RELAY_PATIENCE_SECONDS)


def _is_clear(reply: Reply) -> bool:
    if reply.status == 503:
        return False
    assert reply.status == 200, reply.text
    return bool(reply.json["result"].get("code") != "still_running")


def story_faults(stories: list[Story], rows: Rows) -> list[str]:
    """What the rows say otherwise than the actors were told."""
    sessions = {
        row["public_id"]: row
        for row in rows.read(
            "SELECT s.public_id, s.status, s.returned_at, c.external_id, a.status AS attempt"
            " FROM handoff_session s JOIN handoff_conversation c ON c.id = s.conversation_id"
            " JOIN handoff_attempt a ON a.session_id = s.id"
        )
    }
    entries = [row["entries"] for row in rows.read("SELECT entries FROM handoff_submission")]
    kept = {entry.get("notes") for entry in entries}
    lines = {
        row["text"]: row
        for row in rows.read(
            "SELECT text, routed_to, undelivered FROM handoff_message WHERE author='subscriber'"
        )
    }
    faults = []
    for story in stories:
        row = sessions.get(story.session)
        if row is None or row["external_id"] != story.mark:
            faults.append(f"{story.mark}: the session that was named is lost")
            continue
        if story.told == "started" and row["attempt"] != "accepted":
            faults.append(f"{story.mark}: told that it started, its attempt is {row['attempt']}")
        if story.answered and (story.mark not in kept or row["returned_at"] is None):
            faults.append(f"{story.mark}: a form was taken, and its entries are lost")
        if story.routed_to and lines.get(story.mark, {}).get("routed_to") != story.routed_to:
            faults.append(f"{story.mark}: the line is lost, or went elsewhere")
    if len(sessions) != len({row["external_id"] for row in sessions.values()}):
        faults.append("one call made two sessions")
    return faults


def link_faults(mails: Mails, doors: Doors) -> list[str]:
    """The links that people got lead somewhere."""
    faults = []
    for mail in mails.all():
        if mail.is_request:
            status = doors.look(f"/r/{mail.token}/").status
            if status not in LINK_LIVES:
                faults.append(f"{mail.session}: the link that was sent answers {status}")
    return faults


def line_faults(stories: list[Story], mails: Mails, rows: Rows) -> list[str]:
    """A line for the recipient came to them, or the handoff says that it did not."""
    undelivered = {
        row["text"] for row in rows.read("SELECT text FROM handoff_message WHERE undelivered")
    }
    faults = []
    for story in stories:
        if story.routed_to != "recipient":
            continue
        came = [mail for mail in mails.of(story.session) if story.mark in mail.marks]
        if not any(not mail.is_request for mail in came) and story.mark not in undelivered:
            faults.append(f"{story.mark}: the line reached nobody")
    return faults
