"""The chat on a page of another origin, as docs/chat-widget.md embeds it."""

import re
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    WebSocketRoute,
    expect,
)

from tests.browser.embedding import (
    ELSEWHERE,
    Desk,
    Shop,
    Wire,
    documented,
    embedded,
    visitor_of,
)

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.once]
PATIENCE_MS: Final = 30_000


def opened(context: BrowserContext, address: str) -> tuple[Page, list[str]]:
    """A page with the chat, and everything that its console complains about."""
    page, complaints = context.new_page(), list[str]()
    page.on("pageerror", lambda problem: complaints.append(str(problem)))
    page.on(
        "console",
        lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None,
    )
    page.goto(address)
    expect(page.locator("handoff-chat .status")).to_have_attribute("data-state", "open")
    return page, complaints


def type_in(page: Page, text: str) -> None:
    box = page.locator("handoff-chat .input")
    box.fill(text)
    box.press("Enter")


def bubbles(page: Page) -> list[str]:
    return page.locator("handoff-chat .bubble").all_inner_texts()


def test_the_embed_of_the_documentation_has_ten_lines() -> None:
    assert len(documented("html").splitlines()) == 10


def test_a_shop_embeds_the_chat_under_a_strict_policy_and_a_visitor_talks_to_both(
    browser: Browser, tmp_path: Path, database_url: str
) -> None:
    with embedded(tmp_path / "desk", database_url) as (desk, shop):
        context = browser.new_context()
        asked: list[str] = []
        context.on("request", lambda request: asked.append(request.url))
        page, complaints = opened(context, shop.url())
        visitor = visitor_of(page)
        type_in(page, "Where is order 1234?")
        expect(page.locator(".you .bubble")).to_have_text("Where is order 1234?")
        desk.says(visitor, "One moment, please.")
        expect(page.locator(".bot .bubble")).to_have_text("One moment, please.")

        session = desk.hand_over(visitor, "inbox")
        expect(page.get_by_text("You are now with Shop team.")).to_be_visible()
        type_in(page, "It is a lamp.")
        expect(page.get_by_text("Delivered to Shop team")).to_be_visible()
        desk.cancel(session)
        expect(page.get_by_text("The handoff to Shop team was cancelled.")).to_be_visible()
        expect(page.locator("li.note")).to_have_count(1)
        said = bubbles(page)
        assert said == ["Where is order 1234?", "One moment, please.", "It is a lamp."]
        page.reload()
        expect(page.locator("handoff-chat .bubble")).to_have_count(3)
        assert bubbles(page) == said
        assert complaints == []
        assert {address.split("/")[2] for address in asked} == {
            f"127.0.0.1:{desk.server.port}",
            shop.url().removeprefix("http://"),
        }


def test_a_page_that_the_admin_did_not_allow_is_told_so_in_its_chat(
    browser: Browser, shop: Shop
) -> None:
    page = browser.new_context(locale="en").new_page()
    warnings: list[str] = []
    page.on("console", lambda said: warnings.append(said.text))
    page.goto(shop.url(ELSEWHERE))
    refusal = page.get_by_role("status").get_by_text(
        "This website is not allowed to show this chat."
    )
    expect(refusal).to_be_visible(timeout=PATIENCE_MS)
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    type_in(page, "Hello?")
    expect(page.get_by_text("Will be sent when the connection is back.")).to_be_visible()
    assert any("This page may not open that socket." in text for text in warnings)


def test_the_wire_is_cut_in_the_middle_and_nothing_is_lost_or_said_twice(
    browser: Browser, desk: Desk, shop: Shop
) -> None:
    wire = Wire(desk.server.port)
    through = f"http://127.0.0.1:{wire.port}"
    shop.embed(through, desk.seed["token"])
    mint = shop.ticket
    shop.ticket = lambda visitor: {
        "url": _as_socket(desk, mint(visitor)["url"], through),
    }
    page, _ = opened(browser.new_context(), shop.url())
    visitor = visitor_of(page)
    said: list[str] = []
    for round_number in range(3):
        for index in range(3):
            said.append(f"visitor {round_number}.{index}")
            type_in(page, said[-1])
        wire.cut()
        expect(page.locator("handoff-chat .status")).to_have_attribute("data-state", "lost")
        said.append(f"typed while cut {round_number}")
        type_in(page, said[-1])
        expect(page.get_by_text("Will be sent when the connection is back.").last).to_be_visible()
        said.append(f"bot {round_number}")
        desk.says(visitor, said[-1])
        wire.mend()
        expect(page.locator("handoff-chat .status")).to_have_attribute(
            "data-state", "open", timeout=PATIENCE_MS
        )
        expect(page.locator("handoff-chat .unsent")).to_have_count(0, timeout=PATIENCE_MS)
    wire.close()
    shown = bubbles(page)
    assert sorted(shown) == sorted(said)
    own = [text for text in shown if not text.startswith("bot")]
    assert own == [text for text in said if not text.startswith("bot")]


def _as_socket(desk: Desk, url: str, through: str) -> str:
    return url.replace(desk.url.replace("http", "ws", 1), through.replace("http", "ws", 1))


def test_a_frame_that_comes_twice_is_shown_once(browser: Browser, desk: Desk, shop: Shop) -> None:
    page = browser.new_context().new_page()

    def doubled(near: WebSocketRoute) -> None:
        far = near.connect_to_server()
        near.on_message(far.send)

        def twice(frame: str | bytes) -> None:
            near.send(frame)
            near.send(frame)

        far.on_message(twice)

    page.route_web_socket(re.compile("/ws/chat"), doubled)
    page.goto(shop.url())
    expect(page.locator("handoff-chat .status")).to_have_attribute("data-state", "open")
    visitor = visitor_of(page)
    type_in(page, "Where is order 1234?")
    expect(page.locator(".you:not(.unsent)")).to_have_count(1)
    desk.says(visitor, "One moment, please.")
    desk.cancel(desk.hand_over(visitor, "inbox"))
    expect(page.locator("li.note")).to_have_count(1)
    desk.says(visitor, "Here I am again.")
    expect(page.locator(".bubble")).to_have_count(3)
    expect(page.locator(".event")).to_have_count(2)


def test_a_line_that_does_not_reach_the_people_is_marked_and_the_visitor_is_told(
    browser: Browser, desk: Desk, shop: Shop
) -> None:
    page, complaints = opened(browser.new_context(), shop.url())
    visitor = visitor_of(page)
    desk.hand_over(visitor, "mail")
    expect(page.get_by_text("You are now with Sales support.")).to_be_visible()
    try:
        desk.smtp.recipients["sales@example.com"] = "550 5.1.1 no such secret mailbox"
        type_in(page, "Is anybody there?")
        line = page.locator("handoff-chat [data-fate='undelivered']")
        expect(line).to_contain_text("Not delivered to Sales support", timeout=PATIENCE_MS)
        trouble = page.locator("handoff-chat .event.trouble")
        expect(trouble).to_contain_text("could not be delivered to Sales support")
        failing = "Your messages are not reaching Sales support at the moment."
        expect(page.get_by_role("status").get_by_text(failing)).to_be_visible()
        type_in(page, "Hello?")
        expect(line).to_have_count(2, timeout=PATIENCE_MS)
        expect(trouble).to_have_count(1)
    finally:
        desk.smtp.recipients.clear()
    type_in(page, "And now?")
    expect(page.get_by_text("Delivered to Sales support", exact=True)).to_be_visible(
        timeout=PATIENCE_MS
    )
    expect(page.get_by_text("You are talking to Sales support.")).to_be_visible()
    page.reload()
    expect(line).to_have_count(2)
    for secret in ("secret", "550", "sales@example.com"):
        assert secret not in page.locator("handoff-chat .lines").inner_text()
    page.get_by_role("button", name="Back to the bot").click()
    expect(page.get_by_text("You are back with the bot.")).to_be_visible()
    assert complaints == []


def test_a_handoff_that_reaches_nobody_is_told_without_the_cause(
    browser: Browser, desk: Desk, shop: Shop
) -> None:
    page, _ = opened(browser.new_context(), shop.url())
    try:
        desk.smtp.recipients["sales@example.com"] = "550 5.1.1 no such secret mailbox"
        desk.hand_over(visitor_of(page), "mail")
    finally:
        desk.smtp.recipients.clear()
    words = "Nobody could be reached. You are still with the bot."
    expect(page.get_by_text(words)).to_be_visible(timeout=PATIENCE_MS)
    assert "secret" not in page.locator("handoff-chat .lines").inner_text()
    expect(page.get_by_role("button", name="Back to the bot")).to_be_hidden()


def test_typing_goes_both_ways(browser: Browser, desk: Desk, shop: Shop) -> None:
    page, _ = opened(browser.new_context(), shop.url())
    visitor = visitor_of(page)
    path = f"/api/v1/conversations/{desk.conversation(visitor)}/tickets"
    ticket = desk.call(path, {"role": "agent"})["url"]
    beside = browser.new_context().new_page()
    beside.goto(desk.url + "/static/handoff/mark.svg")
    beside.evaluate(
        """(url) => {
          window.heard = [];
          window.socket = new WebSocket(url, "handoff.v1");
          socket.onmessage = ({ data }) => heard.push(JSON.parse(data));
          return new Promise((open) => (socket.onopen = open));
        }""",
        ticket,
    )
    page.locator("handoff-chat .input").press_sequentially("Hel")
    beside.wait_for_function("heard.some(({ type, data }) => type === 'typing' && data.on)")
    beside.evaluate("socket.send(JSON.stringify({ v: 1, type: 'typing', data: { on: true } }))")
    typing = page.get_by_role("status").get_by_text("Shop assistant is writing…")
    expect(typing).to_be_visible()
    desk.says(visitor, "Hello!")
    expect(typing).to_be_hidden()


def test_the_page_hears_what_happens_and_may_bring_its_own_tickets(
    browser: Browser, desk: Desk, shop: Shop
) -> None:
    shop.html = shop.html.replace(' ticket-url="/chat-ticket"', "")
    page = browser.new_context().new_page()
    page.goto(shop.url())
    page.evaluate(
        """() => {
          window.heard = [];
          for (const name of ["state", "line", "handoff"]) {
            const type = `handoff-chat-${name}`;
            addEventListener(type, ({ detail }) => heard.push([name, detail]));
          }
          document.querySelector("handoff-chat").getTicket = async (signal) => {
            return (await fetch("/chat-ticket", { method: "POST", signal })).json();
          };
        }"""
    )
    expect(page.locator("handoff-chat .status")).to_have_attribute("data-state", "open")
    page.evaluate("document.querySelector('handoff-chat').say(' Hello ')")
    desk.cancel(desk.hand_over(visitor_of(page), "inbox"))
    expect(page.locator("li.note")).to_have_count(1)
    heard: list[Any] = page.evaluate("heard")
    states = [detail["state"] for name, detail in heard if name == "state"]
    assert states == ["connecting", "open"]
    lines = [(detail["author"], detail["text"]) for name, detail in heard if name == "line"]
    assert lines[0] == ("subscriber", "Hello")
    turns = [detail["state"] for name, detail in heard if name == "handoff"]
    assert turns == ["started", "ended"]
