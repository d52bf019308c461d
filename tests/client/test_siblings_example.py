"""The two agents of docs/siblings.md run as they stand, through the public API alone."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import environment
from tests.client.shop import Shop, shop

PAGE = environment.ROOT / "docs" / "siblings.md"
pytestmark = pytest.mark.slow


def blocks(language: str) -> list[str]:
    found = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    return [str(block) for block in found]


class Pair:
    """A running desk with the two agents of the page."""

    def __init__(self, desk: Shop, folder: Path) -> None:
        self.folder = folder
        made = ["--agent", "shop", "--kind", "agent", "--label", "Order desk"]
        self.variables = {
            "DESK_URL": desk.url,
            "SHOP_TOKEN": desk.token,
            "ORDERS_TOKEN": desk.made("new_agent", "orders")["token"],
            "ORDERS_CHANNEL": str(
                desk.made("new_channel", *made, "--config", '{"agent": "orders"}')["channel_id"]
            ),
            "PYTHONPATH": str(environment.ROOT / "client"),
            "SECONDS": "60",
        }
        orders, asks = blocks("python")
        (folder / "orders.py").write_text(orders)
        (folder / "asks.py").write_text(asks)

    def start(self, program: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, program],
            cwd=self.folder,
            env={**os.environ, **self.variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )


@pytest.fixture
def pair(tmp_path: Path, database_url: str) -> Iterator[Pair]:
    with shop(tmp_path / "desk", database_url) as desk, desk.served():
        yield Pair(desk, tmp_path)


def test_one_asks_and_the_other_looks_it_up(pair: Pair) -> None:
    orders = pair.start("orders.py")
    try:
        asks = pair.start("asks.py")
        said, _ = asks.communicate(timeout=60)
    finally:
        orders.kill()
        orders.communicate()
    [promised] = blocks("text")
    assert said == promised


def test_a_sibling_that_was_killed_finds_the_handoff_when_it_starts_again(pair: Pair) -> None:
    asks = pair.start("asks.py")
    try:
        dead = pair.start("orders.py")
        dead.send_signal(signal.SIGKILL)
        dead.communicate()
        time.sleep(0.5)
        orders = pair.start("orders.py")
        said, _ = asks.communicate(timeout=60)
    finally:
        asks.kill()
        orders.kill()
        orders.communicate()
    assert said.endswith("{'order_status': 'shipped', 'eta_date': '2026-06-10'}\n")
