"""What goes wrong around the embedded chat is told in words, and no line gets lost in it."""

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.embedding import Desk, Shop, embedded, visitor_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PATIENCE_MS: Final = 30_000


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("embedded") / "desk.sqlite3"


@pytest.fixture(scope="module")
def place(file: Path) -> Iterator[tuple[Desk, Shop]]:
    beats = {"HANDOFF_HEARTBEAT_SECONDS": "2"}
    with embedded(file.parent / "desk", f"sqlite:///{file}", **beats) as running:
        yield running


def sql(file: Path, statement: str, *values: object) -> None:
    with contextlib.closing(sqlite3.connect(file, timeout=20)) as database:
        database.execute(statement, values)
        database.commit()


def state(page: Page, expected: str) -> None:
    status = page.locator("handoff-chat .status")
    expect(status).to_have_attribute("data-state", expected, timeout=PATIENCE_MS)


def words(page: Page, text: str) -> None:
    """Looks often: some words stand there for a moment."""
    page.wait_for_function(
        """text => [...document.querySelector("handoff-chat").shadowRoot.querySelectorAll(
             "[role=status]")].some(line => line.innerText.includes(text))""",
        arg=text,
        polling=50,
        timeout=PATIENCE_MS,
    )


def type_in(page: Page, text: str) -> None:
    box = page.locator("handoff-chat .input")
    box.fill(text)
    box.press("Enter")


def opened(browser: Browser, shop: Shop) -> Page:
    page = browser.new_page()
    page.goto(shop.url())
    state(page, "open")
    return page


def test_a_used_ticket_is_told_and_a_fresh_one_fetched(browser: Browser, shop: Shop) -> None:
    mint = shop.ticket
    first: list[Any] = []

    def same_again(visitor: str) -> Any:
        first.append(first[0] if first else mint(visitor))
        return first[-1]

    shop.ticket = same_again
    page = opened(browser, shop)
    other = browser.new_page()
    other.goto(shop.url())
    words(other, "The pass for this chat has run out. Getting a new one…")
    type_in(other, "Typed while there was no way in.")
    shop.ticket = mint
    state(other, "open")
    expect(other.locator(".you:not(.unsent)")).to_have_count(1)
    for one in (page, other):
        one.context.close()


def test_a_page_that_answers_no_heartbeat_is_told_and_comes_back(
    browser: Browser, shop: Shop
) -> None:
    page = opened(browser, shop)
    page.evaluate(
        """() => {
          const { send } = WebSocket.prototype;
          WebSocket.prototype.send = function (text) {
            if (!text.includes('"pong"')) return send.call(this, text);
            WebSocket.prototype.send = send;
          };
        }"""
    )
    words(page, "Nothing was heard from this page for a while. Connecting again…")
    state(page, "open")
    page.context.close()


def test_a_sixth_window_is_told_and_gets_in_when_there_is_room(
    browser: Browser, shop: Shop
) -> None:
    context = browser.new_context()
    pages = [context.new_page() for _ in range(6)]
    for page in pages[:5]:
        page.goto(shop.url())
        state(page, "open")
    pages[5].goto(shop.url())
    words(pages[5], "Too much at once, or this chat is open too often. Trying again shortly…")
    pages[0].close()
    pages[5].evaluate("dispatchEvent(new Event('online'))")  # it would wait for ten seconds
    state(pages[5], "open")
    context.close()


def test_an_agent_that_is_switched_off_is_told_and_the_chat_waits_to_be_asked(
    browser: Browser, file: Path, shop: Shop
) -> None:
    page = opened(browser, shop)
    sql(file, "UPDATE handoff_agent SET enabled = 0")
    try:
        words(page, "This chat is switched off at the moment.")
        expect(page.get_by_text("You are talking to the bot.")).to_be_hidden()
    finally:
        sql(file, "UPDATE handoff_agent SET enabled = 1")
    page.get_by_role("button", name="Try again").click()
    state(page, "open")
    page.context.close()


def test_a_conversation_that_is_gone_is_told_and_the_typed_line_is_shown_as_not_sent(
    browser: Browser, desk: Desk, shop: Shop
) -> None:
    nowhere = desk.url.replace("http", "ws", 1) + "/ws/none?ticket=none"
    shop.ticket = lambda visitor: {"url": nowhere}
    page = browser.new_page()
    page.goto(shop.url())
    words(page, "This conversation is no longer here.")
    type_in(page, "Hello?")
    expect(page.get_by_text("Not sent: This conversation is no longer here.")).to_be_visible()
    page.get_by_role("button", name="Remove").click()
    expect(page.locator(".you")).to_have_count(0)
    page.context.close()


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ((403, "no"), "The chat could not be opened. Reload the page or try again."),
        ((200, "<h1>Log in</h1>"), "The chat could not be opened. Reload the page or try again."),
        ((200, '{"url": "mailto:x"}'), "The chat could not be opened."),
        ((503, "later"), "The chat cannot be reached at the moment. Trying again…"),
        ((429, "later"), "The chat cannot be reached at the moment. Trying again…"),
    ],
)
def test_what_the_ticket_url_may_answer(
    browser: Browser, shop: Shop, answer: tuple[int, str], text: str
) -> None:
    page = browser.new_page()
    status, body = answer
    page.route("**/chat-ticket", lambda route: route.fulfill(status=status, body=body))
    page.goto(shop.url())
    words(page, text)
    page.unroute("**/chat-ticket")
    if page.get_by_role("button", name="Try again").is_visible():
        page.get_by_role("button", name="Try again").click()
    state(page, "open")
    page.context.close()


def test_a_text_that_the_desk_would_close_the_socket_for_is_cleaned_and_said_once(
    browser: Browser, shop: Shop
) -> None:
    page = opened(browser, shop)
    page.evaluate(
        "document.querySelector('handoff-chat').say('a\\u0000b\\u0085c\\ud800d\\ufffe\\r\\ne')"
    )
    expect(page.locator(".you:not(.unsent) .bubble")).to_have_text("ab\nc\ufffdd\ne")
    state(page, "open")
    page.context.close()


def test_a_line_that_closes_the_socket_is_kept_as_not_sent_and_blocks_no_other(
    browser: Browser, shop: Shop
) -> None:
    page = opened(browser, shop)
    page.evaluate(
        """() => {
          const { send } = WebSocket.prototype;
          WebSocket.prototype.send = function (text) {
            return send.call(this, text.replace("poison", "\\\\u0000"));
          };
        }"""
    )
    type_in(page, "poison")
    failed = page.locator(".failed .fate")
    expect(failed).to_contain_text("Not sent: the desk does not take this text.")
    type_in(page, "and another")
    said = page.locator(".you:not(.unsent) .bubble")
    expect(said).to_have_text("and another", timeout=PATIENCE_MS)
    page.get_by_role("button", name="Remove").click()
    expect(page.locator(".you")).to_have_count(1)
    page.context.close()


def test_another_visitor_in_the_same_tab_sees_and_says_nothing_of_the_first(
    browser: Browser, desk: Desk, shop: Shop
) -> None:
    page = opened(browser, shop)
    type_in(page, "I am the first.")
    expect(page.locator(".you:not(.unsent)")).to_have_count(1)
    page.context.set_offline(True)
    type_in(page, "This is for the first, too.")
    mint: Callable[[str], Any] = shop.ticket
    shop.ticket = lambda visitor: mint("somebody-else")
    desk.says("somebody-else", "Hello, somebody else!")
    page.context.set_offline(False)
    expect(page.get_by_text("Hello, somebody else!")).to_be_visible(timeout=PATIENCE_MS)
    assert page.locator(".bubble").all_inner_texts() == ["Hello, somebody else!"]
    shop.ticket = mint
    page.reload()
    expect(page.locator(".you:not(.unsent)")).to_have_count(2, timeout=PATIENCE_MS)
    assert visitor_of(page) != "somebody-else"
    page.context.close()
