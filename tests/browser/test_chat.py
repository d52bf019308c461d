"""The chat widget in a real browser, against a real server process."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.barriers import violations
from tests.browser.demo import SETTINGS, Demo, demo, say
from tests.config.servers import running

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.once]
STARTED = "You are now with Sales support."
HOSTILE = '<img src="x" onerror="alert(1)">\n<script>alert(2)</script>'
PATIENCE_MS = 30_000
SECRET_KEY = "the same before and after the server was started again"
ENCRYPTION_KEY = "A" * 43 + "="


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """One for all tests: each browser context is a visitor with a conversation of its own."""
    folder = tmp_path_factory.mktemp("demo")
    with demo(folder / "desk", f"sqlite:///{folder / 'desk.sqlite3'}") as started:
        yield started


def chat_page(context: BrowserContext, desk: Demo) -> tuple[Page, list[str]]:
    """The demo page, and everything that its console complains about from now on."""
    page, complaints = context.new_page(), list[str]()
    page.on("pageerror", lambda problem: complaints.append(str(problem)))
    page.on(
        "console",
        lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None,
    )
    page.goto(desk.address("/demo/"))
    expect(page.get_by_role("textbox", name="Write a message")).to_be_visible()
    return page, complaints


def lines(page: Page) -> list[str]:
    """What was said, line by line, without names and times."""
    return page.locator("handoff-chat .bubble").all_inner_texts()


def test_a_visitor_hands_over_goes_back_to_the_bot_and_reads_it_all_again_after_a_reload(
    browser: Browser, desk: Demo
) -> None:
    page, complaints = chat_page(browser.new_context(), desk)
    back = page.get_by_role("button", name="Back to the bot")
    expect(back).to_be_hidden()
    page.get_by_role("button", name="Where is order 1234?").click()
    expect(page.get_by_text(STARTED)).to_be_visible(timeout=PATIENCE_MS)
    expect(
        page.get_by_role("status").get_by_text("You are talking to Sales support.")
    ).to_be_visible()
    say(page, "It is a lamp.")
    expect(page.get_by_text("Delivered to Sales support")).to_be_visible(timeout=PATIENCE_MS)

    back.click()
    note = page.get_by_text("[Bot resumed — the visitor asked to be back with the bot.]")
    expect(note).to_be_visible()
    expect(back).to_be_hidden()
    expect(page.get_by_text("I'm here again.")).to_be_visible(timeout=PATIENCE_MS)
    said = lines(page)
    assert said[0] == "Where is order 1234?"
    assert said[2:] == ["It is a lamp.", "I'm here again. What can I do for you?"]

    page.reload()
    expect(page.get_by_text("I'm here again.")).to_be_visible()
    assert lines(page) == said
    expect(note).to_have_count(1)
    assert complaints == []


def test_what_somebody_wrote_is_shown_as_text_with_its_lines(browser: Browser, desk: Demo) -> None:
    page, complaints = chat_page(browser.new_context(), desk)
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    box = page.get_by_role("textbox", name="Write a message")
    first, second = HOSTILE.split("\n")
    box.press_sequentially(first)
    box.press("Shift+Enter")
    box.press_sequentially(second)
    box.press("Enter")
    expect(page.locator("handoff-chat .bot")).to_be_visible(timeout=PATIENCE_MS)
    assert lines(page)[0] == HOSTILE
    assert page.locator("handoff-chat .lines :is(img, script)").count() == 0
    assert complaints == []


def test_nothing_that_somebody_wrote_turns_the_direction_of_the_page(
    browser: Browser, desk: Demo
) -> None:
    page, complaints = chat_page(browser.new_context(), desk)
    say(page, "one \u202etwo\u2066")
    expect(page.locator("handoff-chat .bot")).to_be_visible(timeout=PATIENCE_MS)
    assert lines(page)[0] == "one \\u202etwo\\u2066"
    shown = page.evaluate(
        """async (texts) => {
          const { fill } = await import(texts);
          return fill("With {channel}.", { channel: "Sales \u202e\u2069" });
        }""",
        "/static/handoff/chat-texts.js",
    )
    assert shown == "With Sales \\u202e\\u2069."
    assert not {*map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A)])} & {*page.content()}
    assert complaints == []


def test_lines_typed_without_a_network_go_out_once_when_it_is_back(
    browser: Browser, desk: Demo
) -> None:
    context = browser.new_context()
    page, _ = chat_page(context, desk)
    expect(page.locator("handoff-chat .status")).to_have_attribute("data-state", "open")
    context.set_offline(True)
    expect(page.get_by_text("You are offline.")).to_be_visible()
    say(page, "hello one")
    say(page, "thanks two")
    expect(page.get_by_text("Will be sent when the connection is back.")).to_have_count(2)
    context.set_offline(False)
    expect(page.get_by_text("You are welcome.")).to_be_visible(timeout=PATIENCE_MS)
    expect(page.locator("handoff-chat .unsent")).to_have_count(0)
    said = lines(page)
    assert [said.count("hello one"), said.count("thanks two")] == [1, 1]
    assert said.index("hello one") < said.index("thanks two")


def test_unsent_lines_outlive_the_server_and_a_reload_of_the_page(
    browser: Browser, tmp_path: Path
) -> None:
    database_url = f"sqlite:///{tmp_path / 'desk.sqlite3'}"
    with demo(
        tmp_path / "desk",
        database_url,
        SECRET_KEY=SECRET_KEY,
        HANDOFF_ENCRYPTION_KEYS=ENCRYPTION_KEY,
    ) as desk:
        server, context = desk.servers[0], browser.new_context()
        page, _ = chat_page(context, desk)
        say(page, "hello before")
        expect(page.get_by_text("Hello! I'm the shop's bot.")).to_be_visible(timeout=PATIENCE_MS)
        server.terminate()
        server.wait(20)
        expect(page.get_by_text("The connection was lost.")).to_be_visible(timeout=PATIENCE_MS)
        say(page, "thanks after")
        expect(page.get_by_text("Will be sent when the connection is back.")).to_be_visible()
        with running(
            tmp_path / "desk",
            database_url,
            settings=SETTINGS,
            port=server.port,
            HANDOFF_DEMO="1",
            PUBLIC_BASE_URL=desk.address(""),
            SECRET_KEY=SECRET_KEY,
            HANDOFF_ENCRYPTION_KEYS=ENCRYPTION_KEY,
        ):
            expect(page.get_by_text("You are welcome.")).to_be_visible(timeout=2 * PATIENCE_MS)
            assert [lines(page).count(text) for text in ("hello before", "thanks after")] == [1, 1]
            page.evaluate("sessionStorage.clear()")
            context.set_offline(True)
            say(page, "hello from the tab")
            kept = page.evaluate("Object.values(sessionStorage)[0]")
            assert "hello from the tab" in kept
            context.set_offline(False)
            page.reload()
            expect(page.get_by_text("hello from the tab")).to_have_count(1)
            expect(page.locator("handoff-chat .unsent")).to_have_count(0)


def test_a_page_that_gets_no_ticket_says_so_and_tries_again_when_asked(
    browser: Browser, desk: Demo
) -> None:
    context = browser.new_context()
    page, _ = chat_page(context, desk)
    page.route("**/demo/ticket/", lambda route: route.fulfill(status=403, body="no"))
    page.reload()
    expect(page.get_by_text("The chat could not be opened.")).to_be_visible()
    page.unroute("**/demo/ticket/")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("handoff-chat .status")).to_have_attribute("data-state", "open")


def test_a_line_over_the_limit_is_not_sent_and_stays_in_the_box(
    browser: Browser, desk: Demo
) -> None:
    page, _ = chat_page(browser.new_context(), desk)
    box = page.get_by_role("textbox", name="Write a message")
    box.fill("x" * 8003)
    expect(page.get_by_text("Too long by 3 characters.")).to_be_visible()
    box.press("Enter")
    assert len(box.input_value()) == 8003
    assert lines(page) == []


def test_the_demo_speaks_german_to_a_german_browser_from_files_named_by_their_content(
    browser: Browser, desk: Demo
) -> None:
    page = browser.new_context(locale="de-DE").new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(desk.address("/demo/"))
    expect(page.get_by_role("textbox", name="Nachricht schreiben")).to_be_visible()
    modules = [address for address in asked if "/static/handoff/chat" in address]
    assert any("chat-words-de." in address for address in modules)
    assert all(re.search(r"\.[0-9a-f]{12}\.js$", address) for address in modules)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_chat_has_no_barrier_that_axe_finds_and_fits_a_small_phone(
    scheme: Any, browser: Browser, desk: Demo
) -> None:
    context = browser.new_context(
        color_scheme=scheme,
        viewport={"width": 320, "height": 640},
        reduced_motion="reduce",
        bypass_csp=True,  # axe is put into the page as a script
    )
    page, _ = chat_page(context, desk)
    page.get_by_role("button", name="Where is order 1234?").click()
    expect(page.get_by_text(STARTED)).to_be_visible(timeout=PATIENCE_MS)
    page.get_by_role("button", name="Back to the bot").click()
    expect(page.get_by_text("I'm here again.")).to_be_visible(timeout=PATIENCE_MS)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 320


def test_the_keyboard_alone_is_enough(browser: Browser, desk: Demo) -> None:
    page, _ = chat_page(browser.new_context(), desk)
    page.keyboard.press("Tab")
    for _ in range(12):
        if page.evaluate("document.activeElement.dataset.say"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text(STARTED)).to_be_visible(timeout=PATIENCE_MS)
    expect(page.get_by_role("textbox", name="Write a message")).to_be_focused()
    page.keyboard.press("Shift+Tab")  # the log, which scrolls with the arrow keys
    expect(page.get_by_role("log", name="Conversation")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(page.get_by_role("button", name="Back to the bot")).to_be_focused()
