"""The product in one story: an agent asks, a mail goes out, a person answers, the agent resumes."""

import os
import time
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests import environment
from tests.browser.demo import Demo, demo, say

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PICTURES: Final = environment.ROOT / "docs" / "img"
PHONE: Final = ViewportSize(width=390, height=844)
NOTE: Final = (
    (
        "[Bot resumed — the recipient (Sales support) has handed control back. Outcome: resolved. "
        "The parcel left this morning.]"
    ),
    "Returned data:",
    "  • order_status: shipped",
    "  • tracking_url: https://carrier.example/track/abc",
    "  • eta_date: 2026-12-24",
    "  • notes: Left at the gate if nobody is home.",
)


def picture(page: Page, name: str) -> None:
    """Renew a picture of the README, when asked to: `HANDOFF_PICTURES=1 bin/test …`."""
    if os.environ.get("HANDOFF_PICTURES") == "1":
        page.screenshot(path=PICTURES / name)


def fill_in(page: Page) -> None:
    page.get_by_role("radio", name="shipped").check()
    page.locator('[name$="tracking_url"]').fill("https://carrier.example/track/abc")
    page.locator('[name$="eta_date"]').fill("2026-12-24")
    page.locator('[name$="notes"]').fill("Left at the gate if nobody is home.")
    page.locator('[name="note"]').fill("The parcel left this morning.")


def the_whole_story(browser: Browser, desk: Demo, *, form_on: int = 0) -> None:
    chat = browser.new_context(viewport=ViewportSize(width=1100, height=780)).new_page()
    chat.goto(desk.address("/demo/"))
    say(chat, "where is order 1234?")
    expect(chat.get_by_text("You are now with Sales support.")).to_be_visible(timeout=15_000)

    link = desk.mailed_link(server=form_on)
    person = browser.new_context(viewport=PHONE).new_page()
    person.goto(link)
    fill_in(person)
    person.get_by_role("heading", name="Your answer").evaluate("it => it.scrollIntoView()")
    person.get_by_text("4 of 4 questions answered").wait_for(state="attached")
    picture(person, "form.png")
    person.get_by_role("button", name="Send", exact=True).click()
    sent = time.monotonic()
    expect(chat.get_by_text("[Bot resumed — ")).to_be_visible(timeout=2_000)
    assert time.monotonic() - sent < 2.5
    expect(person.get_by_text("shipped")).to_be_visible()

    assert lines_of_the_note(chat) == list(NOTE)
    expect(chat.get_by_text("2026-12-24")).to_have_count(2, timeout=10_000)  # the bot's own words
    before = lines(chat)
    picture(chat, "chat.png")
    chat.reload()
    expect(chat.get_by_text("[Bot resumed — ")).to_have_count(1)
    expect(chat.get_by_text("2026-12-24")).to_have_count(2)
    assert lines(chat) == before


def lines(page: Page) -> list[str]:
    """The texts of the chat's log, in order, without their times."""
    return [
        text.split("\n")[-1] for text in page.get_by_role("log").locator("li").all_inner_texts()
    ]


def lines_of_the_note(page: Page) -> list[str]:
    note = page.get_by_role("log").locator("li.note").inner_text()
    return note[note.index("[Bot resumed") :].split("\n")[: len(NOTE)]


def test_an_agent_asks_a_person_answers_and_the_chat_shows_it(
    browser: Browser, tmp_path: Path, database_url: str
) -> None:
    with demo(tmp_path / "desk", database_url) as desk:
        the_whole_story(browser, desk)


@pytest.mark.postgres
def test_the_form_goes_to_one_process_and_the_chat_is_on_another(
    browser: Browser, tmp_path: Path, database_url: str, redis_url: str
) -> None:
    with demo(
        tmp_path / "desk", database_url, servers=2, REDIS_URL=redis_url, HANDOFF_WATCHER="0"
    ) as desk:
        the_whole_story(browser, desk, form_on=1)
