"""How often open pages of the inbox read themselves again."""

import re

import pytest
from playwright.sync_api import Page, Request, expect

from tests.browser.test_inbox import Story, opened, story

__all__ = ["story"]

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.once]


def asked_for(page: Page, path: str) -> list[Request]:
    """The times that the page reads `path` from now on."""
    heard: list[Request] = []
    address = re.compile(re.escape(path) + "$")
    page.on("request", lambda asked: heard.append(asked) if address.search(asked.url) else None)
    return heard


def test_a_burst_of_lines_has_the_list_read_once_and_once_more(story: Story) -> None:
    page = opened(story.signed_in(), story.at("/inbox/"))
    page.wait_for_timeout(4_000)  # the reading that comes with the socket, and its pause
    reads = asked_for(page, "/inbox/")
    for number in range(12):
        story.subscriber_says(f"line {number}", client_id=f"burst-{number}")
        page.wait_for_timeout(100)
    page.wait_for_timeout(4_000)
    assert 2 <= len(reads) <= 3


def test_what_was_searched_stays_as_it_was_and_still_counts_who_waits(story: Story) -> None:
    page = story.signed_in().new_page()
    alerts, searches = asked_for(page, "/inbox/alerts/"), asked_for(page, "/inbox/?q=order")
    page.goto(story.at("/inbox/?q=order"))
    expect(page.locator("#live")).to_have_text("Not live Reload")
    expect(page.get_by_role("link", name="Reload")).to_be_visible()
    page.wait_for_timeout(4_000)
    before = page.locator("#list").inner_html()
    title = page.title()
    assert title.startswith("(")

    other = story.signed_in("bea").new_page()
    other.goto(story.at(story.facts["sam"]))
    other.get_by_role("button", name=re.compile("^Take")).click()

    expect(page).not_to_have_title(title)
    assert page.locator("#list").inner_html() == before
    expect(page.locator("#live")).to_have_text("Not live Reload")
    assert len(searches) == 1
    assert len(alerts) >= 2
