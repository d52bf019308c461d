"""One visitor on a shop's page and one owner whose browser runs no script, from start to end."""

import re
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.embedding import Desk, Wire, embedded, visitor_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PATIENCE_MS: Final = 30_000
_LINK: Final = re.compile(r"http://127\.0\.0\.1:\d+/r/\S+/")


def type_in(page: Page, text: str) -> None:
    box = page.locator("handoff-chat .input")
    box.fill(text)
    box.press("Enter")


def signed_in_owner(browser: Browser, desk: Desk, conversation: str) -> Page:
    """The conversation in the inbox, in a browser that runs no script."""
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(f"{desk.url}/inbox/{conversation}/")
    page.locator("#username").fill("ada")
    page.locator("#password").fill("correct horse battery")
    page.locator("main button").click()
    return page


def reply(owner: Page, text: str) -> None:
    owner.get_by_label("Reply to the subscriber").fill(text)
    owner.get_by_role("button", name="Send reply").click()
    expect(owner.get_by_text(text)).to_be_visible()


def test_a_visitor_is_handed_over_cut_off_and_handed_back_and_misses_nothing(
    browser: Browser, tmp_path: Path, database_url: str
) -> None:
    with embedded(tmp_path / "desk", database_url) as (desk, shop):
        wire, mint = Wire(desk.server.port), shop.ticket
        near = f"ws://127.0.0.1:{wire.port}"
        shop.embed(f"http://127.0.0.1:{wire.port}", desk.seed["token"])
        shop.ticket = lambda visitor: {
            "url": mint(visitor)["url"].replace(f"ws://127.0.0.1:{desk.server.port}", near)
        }
        page = browser.new_page()
        page.goto(shop.url())
        status = page.locator("handoff-chat .status")
        expect(status).to_have_attribute("data-state", "open")
        visitor = visitor_of(page)
        type_in(page, "Where is order 1234?")
        expect(page.locator(".you:not(.unsent)")).to_have_count(1)
        desk.says(visitor, "I ask somebody.")
        desk.hand_over(visitor, "mail")
        expect(page.get_by_text("You are now with Sales support.")).to_be_visible()
        owner = signed_in_owner(browser, desk, desk.conversation(visitor))
        reply(owner, "Hello, this is Ada.")
        expect(page.get_by_text("Ada Byron joined")).to_be_visible()
        expect(page.locator(".person .who")).to_contain_text("Ada Byron")

        wire.cut()
        expect(status).to_have_attribute("data-state", "lost")
        type_in(page, "It is a lamp.")
        reply(owner, "Which article is it?")
        desk.says(visitor, "I am the bot and speak too late.")
        wire.mend()
        expect(page.get_by_text("Which article is it?")).to_be_visible(timeout=PATIENCE_MS)
        expect(page.locator(".unsent")).to_have_count(0, timeout=PATIENCE_MS)

        found = _LINK.search(desk.smtp.wait_for_message().text)
        assert found is not None
        form = browser.new_context(java_script_enabled=False).new_page()
        form.goto(found[0])
        form.locator('[name="note"]').fill("It left this morning.")
        form.get_by_role("button", name="Send", exact=True).click()
        expect(page.get_by_text("Sales support has answered.")).to_be_visible()
        expect(page.get_by_text("Ada Byron left")).to_be_visible()
        expect(page.locator("li.note")).to_have_count(1)
        expect(page.locator("li.note")).to_contain_text("It left this morning.")
        expect(page.get_by_role("button", name="Back to the bot")).to_be_hidden()
        expect(page.get_by_text("You are talking to the bot.")).to_be_visible()
        desk.says(visitor, "It left this morning, they say.")
        expect(page.locator(".bubble")).to_have_count(6)
        said = page.locator(".bubble").all_inner_texts()
        assert sorted(said) == sorted(
            [
                "Where is order 1234?",
                "I ask somebody.",
                "Hello, this is Ada.",
                "Which article is it?",
                "It is a lamp.",
                "It left this morning, they say.",
            ]
        )
        page.reload()
        expect(page.locator(".bubble")).to_have_count(6)
        assert page.locator(".bubble").all_inner_texts() == said
        wire.close()
