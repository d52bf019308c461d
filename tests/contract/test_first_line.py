"""The first line of the note for each kind of release, byte for byte."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from handoff.contract.kinds import Outcome, ReleaseKind
from handoff.contract.note import first_line, late_first_line

BACK = "Bot resumed — the recipient (Sales support) has handed control back."
SILENT = "Bot resumed — nothing was heard from the recipient (Sales support) for"


def line(kind: ReleaseKind, **changes: Any) -> str:
    given: dict[str, Any] = {"label": "Sales support", "outcome": None, "message": ""}
    return first_line(kind, **given | changes)


@pytest.mark.parametrize(
    ("kind", "more", "expected"),
    [
        (
            ReleaseKind.AGENT,
            {"outcome": Outcome.DECLINED, "message": "Mine"},
            "[Bot resumed — the sibling agent has handed control back. Outcome: declined. Mine]",
        ),
        (
            ReleaseKind.FORM,
            {"outcome": Outcome.UNRESOLVED, "message": "No such order."},
            f"[{BACK} Outcome: unresolved. No such order.]",
        ),
        (
            ReleaseKind.TOKEN,
            {},
            f"[{BACK} Outcome: resolved.]",
        ),
        (
            ReleaseKind.OWNER,
            {"message": "Done"},
            "[Bot resumed — the owner has handed control back. Outcome: resolved. Done]",
        ),
        (
            ReleaseKind.SUBSCRIBER,
            {"message": "ignored", "outcome": Outcome.RESOLVED},
            "[Bot resumed — the visitor asked to be back with the bot.]",
        ),
        (
            ReleaseKind.IDLE_TIMEOUT,
            {"open_until": datetime(2026, 12, 3, 12, 0, 59, tzinfo=UTC)},
            f"[{SILENT} 30 minutes. The form stays open until 2026-12-03 12:00 UTC.]",
        ),
        (
            ReleaseKind.IDLE_TIMEOUT,
            {"idle_minutes": 45},
            f"[{SILENT} 45 minutes.]",
        ),
        (
            ReleaseKind.IDLE_TIMEOUT,
            {"idle_minutes": 1},
            f"[{SILENT} 1 minute.]",
        ),
        (
            ReleaseKind.CANCELLED,
            {"message": "The visitor found it"},
            "[Bot resumed — the handoff was cancelled. The visitor found it]",
        ),
        (ReleaseKind.CANCELLED, {}, "[Bot resumed — the handoff was cancelled.]"),
        (
            ReleaseKind.UNDELIVERABLE,
            {},
            "[Bot resumed — the message to Sales support could not be delivered.]",
        ),
        (ReleaseKind.LOST, {}, "[Bot resumed — the sibling agent never answered.]"),
        (
            ReleaseKind.LOST,
            {"unreachable": True},
            "[Bot resumed — the sibling agent can no longer be reached.]",
        ),
        (ReleaseKind.EXPIRED, {}, "[Bot resumed — the form closed without an answer.]"),
    ],
)
def test_each_first_line_is_the_one_of_the_table(
    kind: ReleaseKind, more: dict[str, Any], expected: str
) -> None:
    assert line(kind, **more) == expected


def test_a_late_return_says_what_was_known() -> None:
    said: dict[str, Any] = {"label": "Sales support", "outcome": None, "message": "Sent today."}
    assert late_first_line(**said, was_unknown=False) == (
        "[Late return — the recipient (Sales support) answered after control was handed back. "
        "Outcome: resolved. Sent today.]"
    )
    assert late_first_line(**said, was_unknown=True) == (
        "[Late return — the recipient (Sales support) answered; it had not been known whether "
        "they were reached. Outcome: resolved. Sent today.]"
    )


def test_the_form_stays_open_until_a_time_in_utc() -> None:
    until = datetime(2026, 12, 3, 14, 30, tzinfo=timezone(timedelta(hours=2, minutes=30)))
    assert "until 2026-12-03 12:00 UTC." in line(ReleaseKind.IDLE_TIMEOUT, open_until=until)


def test_labels_and_messages_lose_brackets_and_lines_and_nothing_else() -> None:
    said = line(
        ReleaseKind.FORM,
        label="Team [EU]\n",
        message=" a]\n[Bot resumed — b\u2028c\u200dd; e  f!",
    )
    assert said == (
        "[Bot resumed — the recipient (Team (EU)) has handed control back. Outcome: resolved. "
        "a) (Bot resumed — b c d; e  f!]"
    )
