"""Row 4: the same call from twenty clients at once contacts the person once."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from tests import factories
from tests.fakes.smtp import SmtpServer
from tests.reliability import facts
from tests.reliability.doors import Doors, Reply
from tests.reliability.figures import report
from tests.reliability.mails import Mails
from tests.reliability.outside.broken import Variant
from tests.reliability.place import Place
from tests.reliability.races import together
from tests.reliability.sizes import sizes
from tests.reliability.stories import new_mark

TWINS: Final = 20
PROVIDER_SECONDS: Final = 0.3
"""When the provider first answers, so that twins come while the first is on its way."""
PAUSE_SECONDS: Final = 0.2
PATIENCE_SECONDS: Final = 60.0


class Groups:
    """Groups of twins: in a conversation with a key, detached with a key, detached with a run."""

    def __init__(self, doors: Doors, smtp: SmtpServer) -> None:
        self._doors = doors
        self._smtp = smtp
        self.repeats = 0
        """Answers that said to ask again."""

    def call(self, number: int) -> set[tuple[str, str]]:
        """The ids that the twins of one group were told: session and attempt."""
        mark = new_mark()
        named = ({"conversation": mark, "key": mark}, {"key": mark}, {"run": mark})[number % 3]
        args = {
            "channel_id": self._doors.seed.email,
            "summary": f"{mark} {factories.SUMMARY}",
            "expected_action": factories.EXPECTED_ACTION,
        }

        def twin() -> tuple[str, str]:
            return self._ids(lambda: self._doors.tool("handoff_request", args, **named))

        self._smtp.may_answer.clear()
        threading.Timer(PROVIDER_SECONDS, self._smtp.may_answer.set).start()
        return set(together([twin] * TWINS))

    def _ids(self, call: Callable[[], Reply]) -> tuple[str, str]:
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until:
            reply = call()
            if reply.status == 200:
                result: dict[str, Any] = reply.json["result"]
                if result.get("code") != "still_running":
                    return result["handoff_session_id"], result["handoff_event_id"]
            else:
                assert reply.status == 503, reply.text
            self.repeats += 1
            time.sleep(PAUSE_SECONDS)
        raise AssertionError("the twins were never answered")


@sizes(quick=12, full=500)
def test_twenty_identical_calls_contact_the_person_once(
    tmp_path: Path, database_url: str, size: int
) -> None:
    with SmtpServer() as smtp:
        place = Place(tmp_path / "desk", database_url, smtp_url=smtp.url)
        with place.serving() as doors:
            groups = Groups(doors, smtp)
            told = [groups.call(number) for number in range(size)]
        mails = Mails(smtp).all()
    assert [ids for ids in told if len(ids) != 1] == []
    assert facts.contact_faults(place.rows, mails) == []
    assert place.tracebacks() == []
    assert len(mails) == len(set.union(*told)) == size
    report(
        4,
        f"{size} groups of {TWINS} identical calls at once: {len(mails)} contacts, 1 for each"
        f" group and the same ids for all; {groups.repeats} were told to ask again first",
    )


@pytest.mark.slow
def test_a_desk_that_keeps_no_keys_is_caught(tmp_path: Path, database_url: str) -> None:
    with SmtpServer() as smtp:
        place = Place(tmp_path / "desk", database_url, smtp_url=smtp.url)
        with place.serving(variant=Variant.FORGETS_KEYS) as doors:
            assert len(Groups(doors, smtp).call(1)) > 1
        faults = facts.contact_faults(place.rows, Mails(smtp).all())
    assert any("asked" in fault for fault in faults)
