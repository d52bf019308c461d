"""docs/sockets.md names what the sockets do."""

import re
from collections.abc import Iterator
from typing import Final

from handoff.realtime import frames, sockets
from tests import environment

PAGE: Final = (environment.ROOT / "docs" / "sockets.md").read_text(encoding="utf-8")
CODES: Final = {4400, 4401, 4403, 4408, 4410, 4429, 4500, 4503}


def rows() -> Iterator[list[str]]:
    """The cells of each row of a table."""
    for line in PAGE.splitlines():
        if line.startswith("| ") and line.endswith("|"):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def test_every_close_code_stands_in_the_table() -> None:
    named = {int(code) for cells in rows() for code in re.findall(r"\b[14]\d{3}\b", cells[0])}
    ours = {value for value in vars(sockets).values() if isinstance(value, int) and value > 4000}
    assert ours == CODES
    assert named == ours | {1009, 1012}


def test_every_frame_of_a_client_stands_there_with_its_fields() -> None:
    named = {cells[0].strip("`"): set(re.findall(r"`(\w+)`", cells[1])) for cells in rows()}
    for type_, data in frames.DATA.items():
        assert named[type_] == set(data.model_fields)


def test_the_limits_are_the_ones_that_hold() -> None:
    assert f"at most {sockets.FRAMES_A_SECOND:.0f} a second" in PAGE
    assert "at most 64 KiB" in PAGE
