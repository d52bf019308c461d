"""docs/channels/discord.md says what is so."""

import json
import re
from typing import Final

import pytest

from handoff.errors import TransportError
from handoff.outbound.http import HttpAnswer
from handoff.transports.discord_commands import COMMANDS
from handoff.transports.discord_errors import refusal
from handoff.transports.discord_settings import DiscordSettings
from tests import environment

PAGE: Final = (environment.ROOT / "docs/channels/discord.md").read_text()
PERMISSIONS: Final = {
    "View Channels": 1 << 10,
    "Send Messages": 1 << 11,
    "Read Message History": 1 << 16,
    "Create Public Threads": 1 << 35,
    "Send Messages in Threads": 1 << 38,
}
"""Bits of Discord's documentation, under the names that its apps show."""


def test_the_invitation_asks_for_the_permissions_that_the_table_explains() -> None:
    rows = dict(re.findall(r"^\| ([A-Z][\w ]+) \| (\d+) \|", PAGE, re.MULTILINE))
    assert {name: int(bit) for name, bit in rows.items()} == PERMISSIONS
    [asked] = re.findall(r"https://discord\.com/oauth2/authorize\?\S+", PAGE)
    assert asked.endswith(f"&permissions={sum(PERMISSIONS.values())}")
    assert "scope=bot+applications.commands&" in asked


def test_the_examples_name_settings_that_there_are() -> None:
    examples = [json.loads(text) for text in re.findall(r"--config '(\{.*?\})'", PAGE, re.DOTALL)]
    assert len(examples) == 2
    for example in examples:
        assert set(example) <= set(DiscordSettings.model_fields)
    for command in COMMANDS:
        assert f"`/{command['name']}`" in PAGE


@pytest.mark.parametrize(
    ("kind", "code"), re.findall(r"^\| `(\w+)`, .*?(\d{5,6})", PAGE, re.MULTILINE)
)
def test_each_code_has_the_kind_that_the_table_names(kind: str, code: str) -> None:
    said = HttpAnswer(400, {}, json.dumps({"code": int(code), "message": "No."}).encode())
    found = refusal(said, sends=True)
    assert isinstance(found, TransportError)
    assert found.kind == kind
