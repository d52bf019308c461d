"""An agent asks, its run is parked, a person fills in the form, and the run goes on."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ViewportSize, sync_playwright

from tests.client import environments
from tests.client.shop import Shop, shop
from tests.client.test_wrappers import AGENTS, clean

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.once]


@pytest.fixture(scope="module")
def browser(chromium_path: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium_path, args=["--no-sandbox"])
        yield found
        found.close()


class Agent:
    """One process of the agent; killed at the end if it still runs."""

    def __init__(self, word: str, file: Path, desk: Shop) -> None:
        program = [environments.python("frameworks"), AGENTS / "story.py"]
        self.process = subprocess.Popen(
            [*program, word, file, desk.url, desk.token, str(desk.channel)],
            env=dict(clean()),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> "Agent":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate(timeout=10)

    def says(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(self.process.communicate(timeout=10)[1])
        return json.loads(line)


def fill_in(browser: Browser, link: str) -> None:
    """As the person on a phone does it."""
    page = browser.new_context(viewport=ViewportSize(width=390, height=844)).new_page()
    page.goto(link)
    page.get_by_role("radio", name="shipped").check()
    page.locator('[name$="weight"]').fill("12.5")
    page.get_by_role("radio", name="Yes").check()
    page.locator('[name$="eta_date"]').fill("2026-12-24")
    page.get_by_role("button", name="Send", exact=True).click()
    page.get_by_text("shipped").wait_for()
    page.context.close()


@pytest.mark.parametrize("loop", ["", "async-"])
def test_a_run_goes_on_with_typed_values_though_its_process_and_the_desk_were_killed(
    loop: str, browser: Browser, tmp_path: Path, database_url: str
) -> None:
    file = tmp_path / "threads.sqlite3"
    with shop(tmp_path / "desk", database_url) as desk:
        with desk.served():
            with Agent(f"{loop}die", file, desk) as died:
                assert died.process.wait(60) == 9, "people were asked, and it noted nothing"
            with Agent(f"{loop}go-on", file, desk) as killed:
                [session] = killed.says()["parked"]
            link = desk.mailed_link()
        with Agent(f"{loop}go-on", file, desk) as agent:
            assert agent.says() == {"parked": [session]}
            with desk.served():  # it waited for a desk that was not there
                fill_in(browser, link)
                told = agent.says()
        assert len(desk.smtp.messages) == 1, "nobody was asked twice"
    assert told["last"] == "Your order is shipped."
    assert told["status"] == "success"
    assert told["handoff"]["id"] == session
    assert told["handoff"]["values"] == {
        "order_status": "shipped",
        "weight": 12.5,
        "signed_for": True,
        "eta_date": "2026-12-24",
    }
    assert told["note"].splitlines() == [
        "[Bot resumed — the recipient (Sales support) has handed control back. Outcome: resolved.]",
        "Returned data:",
        "  • order_status: shipped",
        "  • weight: 12.5",
        "  • signed_for: true",
        "  • eta_date: 2026-12-24",
    ]
