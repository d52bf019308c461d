"""Two owners and a subscriber: who holds it, who waits, what is told when nobody looks."""

import re
from itertools import chain
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, WebSocketRoute, expect

from tests.browser.test_inbox import Story, complaints, opened, shared, story

__all__ = ["shared", "story"]

pytestmark = [pytest.mark.browser, pytest.mark.slow]


class Wire:
    """The sockets of one browser, to be cut and joined again."""

    def __init__(self, context: BrowserContext) -> None:
        self._is_cut = False
        self._open: list[WebSocketRoute] = []
        context.route_web_socket(re.compile("/ws/inbox"), self._route)

    def cut(self) -> None:
        self._is_cut = True
        for socket in self._open:
            socket.close(code=4000)
        self._open.clear()

    def join(self) -> None:
        self._is_cut = False

    def _route(self, socket: WebSocketRoute) -> None:
        if self._is_cut:
            socket.close(code=4000)
        else:
            socket.connect_to_server()
            self._open.append(socket)


def holder(page: Page, name: str) -> None:
    expect(page.locator(".strip")).to_contain_text(f"held by {name}")


def said(page: Page) -> list[str]:
    return page.locator(".line-text").all_inner_texts()


def test_two_owners_and_a_subscriber(story: Story) -> None:
    first, second = story.signed_in("ada"), story.signed_in("bea")
    wire = Wire(first)
    ada, bea = (opened(one, story.at(story.facts["sam"])) for one in (first, second))
    listed = opened(second, story.at("/inbox/"))
    heard = [*map(complaints, (ada, bea, listed))]

    expect(bea).to_have_title(re.compile(r"^\(3\) Sam"))
    ada.get_by_role("button", name="Take it on").click()
    holder(ada, "Ada Byron")
    holder(bea, "Ada Byron")
    expect(bea).to_have_title(re.compile(r"^\(2\) Sam"))
    expect(listed).to_have_title(re.compile(r"^\(2\) Inbox"))
    expect(listed.locator("#waiting")).to_have_text("2 wait for you")
    expect(listed.locator(".entry").first).to_contain_text("held by Ada Byron")

    assert story.subscriber_says("Is anybody there?", client_id="2") == "recipient"
    ada.get_by_label("Reply to the subscriber").fill("I am.")
    ada.get_by_role("button", name="Send reply").click()
    expect(bea.locator(".line-person .line-text")).to_have_text(["I am."])
    expect(bea.locator(".line-person .line-head")).to_contain_text("Ada Byron")
    assert story.subscriber_reads() == ["I am."]

    box = ada.get_by_label("Reply to the subscriber")
    box.type("Half of wh")
    wire.cut()
    expect(ada.locator("#live")).to_have_text("Not live Reload")
    story.subscriber_says("Said while the wire was cut.", client_id="3")
    bea.get_by_role("button", name="Take over from Ada Byron").click()
    holder(bea, "Bea Lovelace")
    expect(ada.locator(".strip")).to_contain_text("held by Ada Byron")
    wire.join()
    expect(ada.locator("#live")).to_have_text("Live Reload", timeout=15_000)
    holder(ada, "Bea Lovelace")
    expect(ada.get_by_text("Said while the wire was cut.")).to_be_visible()
    expect(box).to_have_value("Half of wh")
    assert said(ada) == said(bea)

    bea.get_by_text("Hand over", exact=True).click()
    bea.get_by_label("Who works on it from now on").select_option("Ada Byron")
    bea.get_by_role("button", name="Hand it over").click()
    holder(ada, "Ada Byron")
    expect(box).to_have_value("Half of wh")

    ada.get_by_role("link", name="Fill return form").click()
    ada.get_by_role("radio", name="shipped").check()
    ada.get_by_role("button", name="Send", exact=True).click()
    expect(bea.locator(".line-note .line-text")).to_contain_text("order_status: shipped")
    expect(bea.locator(".strip")).to_have_count(0)
    expect(listed.locator("#group-done .badge")).to_have_text("2")
    assert story.subscriber_says("Thank you.", client_id="4") == "agent"
    expect(bea.get_by_text("Thank you.")).to_be_visible()
    lines = said(bea)
    assert len(lines) == len(set(lines)) == 6, "no line is lost, and none stands there twice"
    assert [line for line in chain(*heard) if "WebSocket" not in line] == []


def test_the_second_to_reach_for_it_is_told_who_has_it(shared: Story) -> None:
    ada, bea = (
        shared.signed_in(name, java_script_enabled=False).new_page() for name in ("ada", "bea")
    )
    for page in (ada, bea):
        page.goto(shared.at(shared.facts["sara"]))
    ada.get_by_role("button", name="Take it on").click()
    bea.get_by_role("button", name="Take it on").click()
    expect(bea.locator(".notice-warn")).to_have_text(
        "Nothing changed: Ada Byron holds it by now, or it has ended."
    )
    holder(bea, "Ada Byron")


def test_looking_counts_from_the_first_touch_and_not_from_loading(shared: Story) -> None:
    page = opened(shared.signed_in(), shared.at(shared.facts["sam"]))
    page.evaluate("dispatchEvent(new PointerEvent('pointermove'))")
    page.wait_for_timeout(500)
    assert shared.delivery() == ""
    with page.expect_response(re.compile("/seen/$")) as answer:
        page.mouse.move(200, 200)
    assert answer.value.status == 204
    assert shared.delivery() == "read"
    expect(page.locator("form[data-seen]")).to_have_count(0)


RECORDER = """
  const Real = Notification;
  window.shown = [];
  window.Notification = class extends Real {
    constructor(title, options) {
      super(title, options);
      window.shown.push([title, options.body, options.tag]);
    }
  };
  document.hasFocus = () => false;  // somebody works in another window
"""


def test_notifications_are_asked_for_and_say_nothing_of_what_people_wrote(story: Story) -> None:
    context = story.signed_in(permissions=["notifications"])
    context.add_init_script(RECORDER)
    page = opened(context, story.at("/inbox/"))
    button = page.get_by_role("button", name="Notify me in this browser")
    shown: Any = lambda: page.evaluate("window.shown")  # noqa: E731  (read anew each time)

    answer(story, "sam")
    expect(page).to_have_title(re.compile(r"^\(2\)"))
    story.subscriber_says("<b>4111-1111</b>", client_id="5")
    expect(page).to_have_title(re.compile(r"^\(3\)"))
    assert shown() == [], "nobody asked for them"

    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    answer(story, "sam")
    expect(page).to_have_title(re.compile(r"^\(2\)"))
    story.subscriber_says("<b>4111-1111</b> once more", client_id="6")
    expect(page).to_have_title(re.compile(r"^\(3\)"))
    assert shown() == [
        ["Handoff Desk", "Somebody waits for you in the inbox.", story.facts["session"]]
    ]

    page.reload()
    expect(button).to_have_attribute("aria-pressed", "true")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")


def answer(story: Story, where: str) -> None:
    """Bea replies, from a browser of her own."""
    page = story.signed_in("bea").new_page()
    page.goto(story.at(story.facts[where]))
    page.get_by_label("Reply to the subscriber").fill("A moment.")
    page.get_by_role("button", name="Send reply").click()
    expect(page.get_by_label("Reply to the subscriber")).to_have_value("")
    page.context.close()


def test_a_browser_that_does_not_notify_says_so(shared: Story) -> None:
    context = shared.signed_in()
    context.add_init_script(
        "Object.defineProperty(Notification, 'permission', {get: () => 'denied'})"
    )
    page = opened(context, shared.at("/inbox/"))
    expect(page.locator("#alerts")).to_contain_text("This browser does not let the desk notify you")


def test_earlier_lines_come_into_the_page_and_nothing_moves(shared: Story) -> None:
    page = opened(shared.signed_in(), shared.at(shared.facts["long"]))
    heard = complaints(page)
    lines = page.locator(".line-text")
    expect(lines).to_have_count(200)
    earlier = page.get_by_role("link", name="Show earlier lines")

    anchor = page.locator("#lines > li").first.get_attribute("id")
    page.locator(".scroller").evaluate("box => box.scrollTo(0, -box.scrollHeight)")
    before = page.locator(f"#{anchor}").bounding_box()
    earlier.click()
    expect(lines).to_have_count(400)
    after = page.locator(f"#{anchor}").bounding_box()
    assert before is not None
    assert after is not None
    assert abs(before["y"] - after["y"]) < 60, "what was read stays where it was"
    expect(earlier).to_be_focused()
    page.keyboard.press("Enter")
    expect(lines).to_have_count(450)
    expect(earlier).to_have_count(0)

    shared.subscriber_says("Line 451.", client_id="9", where="long")
    expect(lines.last).to_have_text("Line 451.")
    assert lines.all_inner_texts() == [f"Line {number}." for number in range(1, 452)]
    assert heard == []


def test_a_link_is_copied_without_leaving_the_page(shared: Story) -> None:
    context = shared.signed_in(permissions=["clipboard-read", "clipboard-write"])
    page = opened(context, shared.at(shared.facts["sara"]))
    page.get_by_label("Reply to the subscriber").type("Half of wh")
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(shared.at("/r/"))
    shared.subscriber_says("Hello?", client_id="7", where="sara")
    expect(page.get_by_text("Hello?")).to_be_visible()
    expect(page.get_by_label("Link to the return form")).to_have_value(copied)
    expect(page.get_by_label("Reply to the subscriber")).to_have_value("Half of wh")

    stranger = shared.browser.new_context().new_page()
    stranger.goto(copied)
    expect(stranger.get_by_role("button", name="Send", exact=True)).to_be_visible()
