"""The owner inbox in a real browser: live, without scripts, and for everybody."""

import contextlib
import dataclasses
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests import environment, programs
from tests.config.servers import Server, running

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@dataclasses.dataclass(frozen=True)
class Story:
    """A running desk with the handoffs of `inbox_story`."""

    server: Server
    browser: Browser
    facts: dict[str, str]

    def at(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server.port}{path}"

    def signed_in(self, **context: Any) -> BrowserContext:
        """A browser of its own in which the owner is signed in, by the page itself."""
        opened = self.browser.new_context(**context)
        page = opened.new_page()
        page.goto(self.at("/inbox/"))
        page.locator("#username").fill("ada")
        page.locator("#password").fill("correct horse battery")
        page.locator("main button").click()
        expect(page.locator("#list")).to_be_visible()
        page.close()
        return opened

    def subscriber_says(self, text: str, *, client_id: str) -> None:
        body = {"client_id": client_id, "author": "subscriber", "text": text}
        with contextlib.closing(self.server.connection()) as connection:
            connection.request(
                "POST",
                self.facts["messages"],
                json.dumps(body),
                {
                    "authorization": f"Bearer {self.facts['token']}",
                    "content-type": "application/json",
                },
            )
            assert connection.getresponse().status == 201


@pytest.fixture(scope="module")
def browser(chromium_path: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium_path, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def story(browser: Browser, tmp_path: Path, database_url: str) -> Iterator[Story]:
    folder = tmp_path / "desk"
    folder.mkdir(mode=0o700)
    port = programs.free_port()
    settings = {"PUBLIC_BASE_URL": f"http://127.0.0.1:{port}", "HANDOFF_WATCHER": "0"}
    environ = environment.clean_environment(folder) | settings | {"DATABASE_URL": database_url}
    for program in (["manage.py", "prepare"], ["-m", "tests.browser.inbox_story"]):
        made = subprocess.run(
            [sys.executable, *program],
            cwd=environment.ROOT,
            env=environ,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            timeout=120,
        )
    with running(
        folder, database_url, settings="config.settings", port=port, environ=settings
    ) as server:
        yield Story(server, browser, json.loads(made.stdout))


def complaints(page: Page) -> list[str]:
    """What the console says from now on, blocked scripts and styles among it."""
    heard: list[str] = []
    page.on("console", lambda said: heard.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: heard.append(str(error)))
    return heard


def opened(context: BrowserContext, address: str) -> Page:
    page = context.new_page()
    page.goto(address)
    expect(page.locator("#live")).to_have_text("Live Reload")
    expect(page.locator("#live a")).to_be_hidden()
    return page


def test_an_owner_replies_and_releases_while_the_page_is_live(story: Story) -> None:
    owner = story.signed_in()
    listed = opened(owner, story.at("/inbox/"))
    page = opened(owner, story.at(story.facts["sam"]))
    other = opened(owner, story.at(story.facts["sam"]))
    heard = complaints(page)
    box = page.get_by_label("Reply to the subscriber")

    box.type("Half a rep")
    story.subscriber_says("I am <b>waiting</b>.", client_id="2")
    expect(page.get_by_text("I am <b>waiting</b>.")).to_be_visible(timeout=3_000)
    expect(box).to_be_focused()
    expect(box).to_have_value("Half a rep")
    box.type("ly.")
    page.get_by_role("button", name="Send reply").click()
    expect(page.locator(".line-person .line-text")).to_have_text(["Half a reply."])
    expect(other.locator(".line-person .line-text")).to_have_text(["Half a reply."])
    expect(box).to_have_value("")

    box.fill("Typed when it was over")
    other.get_by_text("Release without values").click()
    other.get_by_label("Message to the agent").fill("Order is on its way.")
    other.get_by_role("radio", name="Could not be resolved").check()
    other.get_by_role("button", name="Release", exact=True).click()

    note = (
        "[Bot resumed — the owner has handed control back. "
        "Outcome: unresolved. Order is on its way.]"
    )
    for shown in (page, other):
        expect(shown.locator(".line-note .line-text")).to_contain_text(note)
        expect(shown.locator(".strip")).to_have_count(0)
    expect(page.get_by_label("Not sent")).to_have_value("Typed when it was over")
    expect(listed.locator("#group-active .badge")).to_have_text("1")
    expect(listed.get_by_text("Released by an owner: could not be resolved")).to_be_visible()
    assert heard == []

    story.server.terminate()
    expect(page.locator("#live")).to_have_text("Not live Reload")
    expect(page.get_by_role("link", name="Reload")).to_be_visible()


def test_everything_works_without_scripts(story: Story) -> None:
    page = story.signed_in(java_script_enabled=False).new_page()
    page.goto(story.at("/inbox/"))
    page.get_by_role("link", name="Look up order 1234").first.click()
    expect(page.locator("#live")).to_have_text("Not live Reload")

    page.get_by_role("button", name="Take it on").click()
    expect(page.get_by_text("You hold this handoff now.")).to_be_visible()
    page.get_by_label("Reply to the subscriber").fill("I look\ninto it.")
    page.get_by_role("button", name="Send reply").click()
    expect(page.locator(".line-person .line-text")).to_have_text(["I look\ninto it."])
    page.locator(".strip-form summary", has_text="Cancel").click()
    page.get_by_label("Reason").fill("Asked twice.")
    page.get_by_role("button", name="Cancel this handoff").click()
    expect(page.get_by_text("Cancelled. The agent has been told.")).to_be_visible()
    expect(page.locator(".line-note").last).to_contain_text("was cancelled. Asked twice.]")


LOOKS: Final = [
    ("light", "en", 1200),
    ("dark", "en", 390),
    ("light", "ar", 320),
    ("dark", "ar", 320),
]
"""Colour scheme, language of the browser, width in pixels."""


def test_every_page_is_accessible_and_fits(story: Story) -> None:
    for scheme, language, width in LOOKS:
        look: dict[str, Any] = {
            "color_scheme": scheme,
            "locale": language,
            "viewport": {"width": width, "height": 800},
        }
        direction = "rtl" if language == "ar" else "ltr"
        paths = ["/inbox/", *(story.facts[name] for name in ("sam", "sara", "kim", "done"))]
        page = story.signed_in(**look).new_page()
        heard = complaints(page)
        for path in paths:
            page.goto(story.at(path))
            assert faults(page, width=width, direction=direction) == [], (path, look)
        assert heard == []
        stranger = story.browser.new_context(**look).new_page()
        stranger.goto(story.at("/inbox/"))
        assert faults(stranger, width=width, direction=direction) == [], look


def faults(page: Page, *, width: int, direction: str) -> list[str]:
    """What axe finds with everything unfolded, and what does not fit."""
    page.locator("details").evaluate_all("all => all.forEach(part => { part.open = true })")
    found = Axe().run(page)
    said = [found.generate_report()] if found.violations_count else []
    if page.evaluate("document.documentElement.scrollWidth") > width:
        said.append("wider than the window")
    if page.locator("html").get_attribute("dir") != direction:
        said.append("wrong direction")
    return said


def test_an_owner_fills_in_the_return_form_from_the_strip(story: Story) -> None:
    owner = story.signed_in()
    page = opened(owner, story.at(story.facts["sam"]))
    form = opened(owner, story.at(story.facts["sam"]))
    form.get_by_role("link", name="Fill return form").click()
    form.get_by_role("radio", name="shipped").check()
    form.get_by_role("button", name="Send", exact=True).click()

    expect(page.locator(".line-note .line-text")).to_contain_text("• order_status: shipped")
    expect(page.get_by_role("link", name="Fill return form")).to_have_count(0)


def test_the_keyboard_reaches_every_button_of_the_strip(story: Story) -> None:
    page = opened(story.signed_in(), story.at(story.facts["sam"]))
    page.locator("#content").focus()
    reached = []
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.innerText.trim()"))
    wanted = ["Fill return form", "Reply", "Take it on", "Release without values", "Cancel"]
    assert [said for said in reached if said in wanted] == wanted
    page.get_by_role("link", name="Reply").press("Enter")
    expect(page.get_by_label("Reply to the subscriber")).to_be_focused()
