"""The return form in a real browser: sent from a fresh profile, with and without scripts, usable
by everybody.
"""

import dataclasses
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request, expect, sync_playwright

from tests import environment
from tests.browser.barriers import violations
from tests.config.servers import Server, running

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HANDOFFS = (
    *("fresh", "plain", "half", "untouched", "tools", "beacon", "keyboard", "light", "dark"),
    *("narrow", "long", "owned", "arabic", "arabic narrow"),
)


@dataclasses.dataclass(frozen=True)
class Desk:
    """A running desk with one handoff for each name."""

    server: Server
    browser: Browser
    paths: dict[str, str]

    def page(self, name: str, **context: Any) -> Page:
        """The handoff's form in a fresh profile."""
        page = self.browser.new_context(**context).new_page()
        page.goto(f"http://127.0.0.1:{self.server.port}{self.paths[name]}")
        return page


@pytest.fixture(scope="module")
def desk(chromium_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("form") / "desk"
    folder.mkdir(mode=0o700)
    url = f"sqlite:///{folder / 'desk.sqlite3'}"
    environ = environment.clean_environment(folder) | {"DATABASE_URL": url}
    for program in (["manage.py", "prepare"], ["-m", "tests.browser.form_story", *HANDOFFS]):
        made = subprocess.run(
            [sys.executable, *program],
            cwd=environment.ROOT,
            env=environ,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            timeout=120,
        )
    with (
        sync_playwright() as playwright,
        running(folder, url, settings="config.settings") as server,
    ):
        browser = playwright.chromium.launch(executable_path=chromium_path, args=["--no-sandbox"])
        yield Desk(server, browser, json.loads(made.stdout))
        browser.close()


def fill_in(page: Page) -> None:
    page.get_by_role("radio", name="shipped").check()
    page.get_by_label("Tracking address").fill("carrier.example/track")
    page.get_by_label("Expected on").fill("2026-06-10")
    page.get_by_label("Refund").fill("12.50")
    page.get_by_label("Your name").fill("Sam")


def send(page: Page) -> None:
    page.get_by_role("button", name="Send", exact=True).click()


def test_a_fresh_profile_sends_the_form_and_sees_it_again(desk: Desk) -> None:
    page = desk.page("fresh")
    sent: list[Request] = []
    page.on("request", lambda request: sent.append(request) if request.method == "POST" else None)
    fill_in(page)
    send(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you. Your answer was sent.")
    post = next(request for request in sent if not request.url.endswith("/opened"))
    assert post.header_value("origin") == "null"
    assert post.header_value("referer") is None
    page.reload()
    expect(page.get_by_text("https://carrier.example/track")).to_be_visible()
    assert len([request for request in sent if not request.url.endswith("/opened")]) == 1
    other = desk.page("fresh")
    expect(other.get_by_role("heading", level=1)).to_have_text("This was already answered")
    expect(other.get_by_text("carrier.example")).to_have_count(0)


def test_everything_works_with_scripts_off(desk: Desk) -> None:
    page = desk.page("plain", java_script_enabled=False)
    page.get_by_label("Refund").fill("1,234")
    send(page)
    expect(page).to_have_title(re.compile("^Error: "))
    assert page.locator("#problems").is_visible()
    page.get_by_role("link", name="Choose one for “Order status”.").click()
    expect(page.get_by_label("Refund")).to_have_value("1,234")
    page.get_by_role("button", name="Send anyway").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you. Your answer was sent.")
    expect(page.get_by_text("sent as typed")).to_be_visible()


def test_problems_take_the_focus_and_lead_to_their_fields(desk: Desk) -> None:
    page = desk.page("half")
    page.get_by_label("Refund").fill("1,234")
    send(page)
    expect(page.locator("#problems")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Refund")).to_be_focused()
    page.get_by_role("link", name="Choose one for “Order status”.").click()
    expect(page.get_by_role("radio", name="processing")).to_be_focused()
    expect(page.get_by_role("radio", name="processing")).to_be_in_viewport()
    assert violations(page) == []


def test_an_untouched_form_asks_for_a_tick(desk: Desk) -> None:
    page = desk.page("untouched")
    send(page)
    box = page.get_by_role("checkbox")
    expect(box).not_to_be_checked()
    assert violations(page) == []
    box.check()
    send(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you. Your answer was sent.")


def test_the_page_loads_nothing_from_elsewhere_and_breaks_no_policy(desk: Desk) -> None:
    context = desk.browser.new_context()
    page = context.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda line: said.append(line.text))
    page.goto(f"http://127.0.0.1:{desk.server.port}{desk.paths['tools']}")
    page.get_by_label("Notes").fill("x" * 19_000)
    expect(page.get_by_text("19000 / 20000")).to_be_visible()
    expect(page.get_by_text("1 of 8 questions answered")).to_be_visible()
    assert said == []
    assert all(url.startswith(f"http://127.0.0.1:{desk.server.port}/") for url in asked)
    assert context.cookies() == []


def test_opening_is_told_by_a_person_s_first_sign_and_not_by_loading(desk: Desk) -> None:
    page = desk.page("beacon")
    told: list[str] = []
    page.on("request", lambda request: told.append(request.method))
    page.wait_for_timeout(400)
    assert "POST" not in told
    with page.expect_response(lambda response: response.url.endswith("/opened")) as answer:
        page.mouse.move(50, 50)
    assert answer.value.status == 204
    page.keyboard.press("Tab")
    page.get_by_label("Refund").press_sequentially("12")
    assert told.count("POST") == 1


def test_the_form_can_be_sent_by_keyboard_alone(desk: Desk) -> None:
    page = desk.page("keyboard")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.get_by_label("Carrier").focus()
    reached = False
    for _ in range(25):
        page.keyboard.press("Tab")
        focused = page.evaluate("document.activeElement.value || document.activeElement.type")
        if focused == "processing":
            page.keyboard.press("Space")
        reached = page.evaluate("document.activeElement.matches('button[type=submit]')")
        assert page.evaluate(
            "(() => { const box = document.activeElement.getBoundingClientRect();"
            " return box.top >= 0 && box.bottom <= innerHeight; })()"
        )
        if reached:
            break
    assert reached
    page.keyboard.press("Enter")
    expect(page.get_by_text("Thank you. Your answer was sent.")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_either_scheme(desk: Desk, scheme: str) -> None:
    page = desk.page(scheme, color_scheme=scheme)
    page.get_by_text("More context").click()
    page.get_by_text("Recent conversation").click()
    assert violations(page) == []
    fill_in(page)
    send(page)
    expect(page.get_by_text("Thank you. Your answer was sent.")).to_be_visible()
    assert violations(page) == []
    other = desk.page(scheme, color_scheme=scheme)
    assert violations(other) == []


@pytest.mark.parametrize("name", ["narrow", "arabic narrow"])
def test_the_page_reflows_at_320_pixels(desk: Desk, name: str) -> None:
    locale = "en" if name == "narrow" else "ar"
    page = desk.page(name, viewport={"width": 320, "height": 640}, locale=locale)
    assert page.evaluate("document.dir") == ("ltr" if name == "narrow" else "rtl")
    overflow = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert not page.evaluate(overflow)
    assert violations(page) == []
    send(page)
    expect(page.locator("#problems")).to_be_focused()
    assert not page.evaluate(overflow)
    small = page.evaluate(
        "[...document.querySelectorAll('button, select, input:not([type=hidden]), label.choice')]"
        ".map((part) => (part.closest('label') || part).getBoundingClientRect())"
        ".filter((box) => box.width < 24 || box.height < 24).length"
    )
    assert small == 0


def test_arabic_text_runs_from_the_right_on_an_english_page(desk: Desk) -> None:
    page = desk.page("arabic", locale="en")
    text = page.locator(".theirs").first
    assert text.evaluate("element => getComputedStyle(element).direction") == "rtl"
    page.get_by_role("radio", name="تم الشحن").check()
    page.get_by_label("ملاحظات للزبونة").fill("تم الإرسال صباح اليوم")
    send(page)
    expect(page.get_by_text("تم الإرسال صباح اليوم")).to_be_visible()


def test_words_without_spaces_do_not_widen_the_page(desk: Desk) -> None:
    page = desk.page("long", viewport={"width": 360, "height": 640})
    page.get_by_label("Carrier").fill("x" * 300)
    page.get_by_role("radio", name="shipped").check()
    send(page)
    expect(page.get_by_text("Thank you. Your answer was sent.")).to_be_visible()
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")


def test_a_signed_in_owner_sends_the_form_under_csrf(desk: Desk) -> None:
    page = desk.page("owned owner")
    page.locator("#username").fill("ada")
    page.locator("#password").fill("correct horse battery")
    page.locator("main button").click()
    expect(page.get_by_label("Your name")).to_have_value("ada")
    assert violations(page) == []
    page.get_by_role("radio", name="shipped").check()
    send(page)
    expect(page.get_by_text("Thank you. Your answer was sent.")).to_be_visible()
