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
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests import environment, programs
from tests.config.servers import Server, running
from tests.databases import copied
from tests.reliability.sizes import sizes

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.once]


@dataclasses.dataclass(frozen=True)
class Story:
    """A running desk with the handoffs of `inbox_story`."""

    server: Server
    browser: Browser
    facts: dict[str, str]

    def at(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server.port}{path}"

    def signed_in(self, name: str = "ada", **context: Any) -> BrowserContext:
        """A browser of its own in which an owner is signed in, by the page itself."""
        opened = self.browser.new_context(**context)
        page = opened.new_page()
        page.goto(self.at("/inbox/"))
        page.locator("#username").fill(name)
        page.locator("#password").fill("correct horse battery")
        page.locator("main button").click()
        expect(page.locator("#list")).to_be_visible()
        page.close()
        return opened

    def subscriber_says(self, text: str, *, client_id: str, where: str = "sam") -> str:
        """Sends a line; whom it goes to."""
        body = {"client_id": client_id, "author": "subscriber", "text": text}
        path = f"/api/v1/conversations/{self.facts[where].split('/')[2]}/messages"
        status, answer = self.ask("POST", path, body)
        assert status == 201
        return str(answer["message"]["routed_to"])

    def subscriber_reads(self) -> list[str]:
        """What people said to Sam, as the agent's front end gets it."""
        _, page = self.ask("GET", f"{self.facts['messages']}?limit=200")
        return [line["text"] for line in page["data"] if line["author"] == "person"]

    def delivery(self) -> str:
        """What is known of Sam's handoff reaching somebody."""
        _, found = self.ask("GET", f"/api/v1/handoffs/{self.facts['session']}")
        return str(found["attempts"][0]["delivery"])

    def ask(
        self, method: str, path: str, body: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        headers = {
            "authorization": f"Bearer {self.facts['token']}",
            "content-type": "application/json",
        }
        with contextlib.closing(self.server.connection()) as connection:
            connection.request(method, path, json.dumps(body) if body else None, headers)
            response = connection.getresponse()
            return response.status, json.loads(response.read())


@contextlib.contextmanager
def telling(browser: Browser, folder: Path, database_url: str) -> Iterator[Story]:
    """A desk of its own in `folder`, which is made."""
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


@pytest.fixture
def story(browser: Browser, tmp_path: Path, database_url: str) -> Iterator[Story]:
    with telling(browser, tmp_path / "desk", database_url) as told:
        yield told


@pytest.fixture(scope="module")
def shared(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory, _migrated: str
) -> Iterator[Story]:
    """A desk of several tests that are about the browser: none changes what another looks at."""
    folder = tmp_path_factory.mktemp("shared")
    with copied(_migrated, folder) as url, telling(browser, folder / "desk", url) as told:
        yield told


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
    expect(listed.locator("#group-active .badge")).to_have_text("2")
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
    page.get_by_role("button", name="Extend").click()
    expect(page.get_by_text("Extended: both clocks begin again.")).to_be_visible()
    page.get_by_role("button", name="Resend notice").click()
    expect(page.get_by_text("The other owners are being mailed.")).to_be_visible()
    page.get_by_role("button", name="Copy link").click()
    link = page.get_by_label("Link to the return form").input_value()
    assert link.startswith(story.at("/r/"))
    page.get_by_text("Hand over", exact=True).click()
    page.get_by_label("Who works on it from now on").select_option("Bea Lovelace")
    page.get_by_role("button", name="Hand it over").click()
    expect(page.get_by_text("Bea Lovelace holds this handoff now.")).to_be_visible()
    page.get_by_role("button", name="Take over from Bea Lovelace").click()
    expect(page.get_by_text("You hold this handoff now.")).to_be_visible()
    page.get_by_label("Reply to the subscriber").fill("I look\ninto it.")
    page.get_by_role("button", name="Send reply").click()
    expect(page.locator(".line-person .line-text")).to_have_text(["I look\ninto it."])
    page.locator(".strip-form summary", has_text="Cancel").click()
    page.get_by_label("Reason").fill("Asked twice.")
    page.get_by_role("button", name="Cancel this handoff").click()
    expect(page.get_by_text("Cancelled. The agent has been told.")).to_be_visible()
    expect(page.locator(".line-note").last).to_contain_text("was cancelled. Asked twice.]")

    page.goto(story.at("/inbox/"))
    page.locator("#filter summary").click()
    page.get_by_label("Urgency").select_option("Low urgency")
    page.get_by_role("button", name="Apply").click()
    expect(page.locator(".entry .who")).to_have_text(["Lou"])
    page.locator(".entry-link").click()
    expect(page.locator(".line-text").first).to_have_text("Line 251.")
    page.get_by_role("link", name="Show earlier lines").click()
    expect(page.locator(".line-text").first).to_have_text("Line 51.")
    page.get_by_role("link", name="Show earlier lines").click()
    expect(page.locator(".line-text").last).to_have_text("Line 50.")
    page.get_by_role("link", name="Show later lines").click()
    expect(page.locator(".line-text").first).to_have_text("Line 51.")
    page.get_by_role("link", name="Show the newest lines").click()
    expect(page.locator(".line-text").last).to_have_text("Line 450.")


LOOKS: Final = [
    ("light", "en", 1200),
    ("dark", "en", 390),
    ("light", "ar", 320),
    ("dark", "ar", 320),
]
"""Colour scheme, language of the browser, width in pixels."""


@sizes(quick=1, full=len(LOOKS))
def test_every_page_is_accessible_and_fits(size: int, shared: Story) -> None:
    """Each page in `size` of the looks: in the next one for the next page."""
    for number, (scheme, language, width) in enumerate(LOOKS):
        look: dict[str, Any] = {
            "color_scheme": scheme,
            "locale": language,
            "viewport": {"width": width, "height": 800},
        }
        direction = "rtl" if language == "ar" else "ltr"
        paths = [
            "/inbox/",
            *(shared.facts[name] for name in ("sam", "sara", "kim", "done", "long")),
        ]
        chosen = [path for place, path in enumerate(paths) if (place + number) % len(LOOKS) < size]
        page = shared.signed_in(**look).new_page()
        heard = complaints(page)
        for path in chosen:
            page.goto(shared.at(path))
            assert faults(page, width=width, direction=direction) == [], (path, look)
        page.goto(shared.at(shared.facts["sam"]))
        page.get_by_role("button", name="Copy link").click()
        expect(page.locator(".copied input")).to_be_focused()
        assert faults(page, width=width, direction=direction) == [], look
        assert heard == []
        stranger = shared.browser.new_context(**look).new_page()
        stranger.goto(shared.at("/inbox/"))
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


def test_the_keyboard_reaches_every_button_of_the_strip(shared: Story) -> None:
    page = opened(shared.signed_in(), shared.at(shared.facts["sam"]))
    page.locator("#content").focus()
    reached = []
    for _ in range(16):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.innerText.trim()"))
    wanted = [
        "Fill return form",
        "Reply",
        "Take it on",
        "Hand over",
        "Release without values",
        "Extend",
        "Resend notice",
        "Copy link",
        "Cancel",
    ]
    assert [said for said in reached if said in wanted] == wanted
    page.get_by_role("link", name="Reply").press("Enter")
    expect(page.get_by_label("Reply to the subscriber")).to_be_focused()


def test_the_keyboard_stays_where_it_is_when_the_page_changes(shared: Story) -> None:
    page = opened(shared.signed_in(), shared.at(shared.facts["long"]))
    focused = "document.activeElement.innerText.trim()"
    for button, owner, press, holder in (
        ("Release without values", "bea", "Take it on", "Bea Lovelace"),
        ("Extend", "ada", "Take over from", "Ada Byron"),
    ):
        page.get_by_text(button, exact=True).focus()
        other = opened(shared.signed_in(owner), shared.at(shared.facts["long"]))
        other.get_by_role("button", name=press).click()
        expect(page.locator(".strip")).to_contain_text(f"held by {holder}")
        assert page.evaluate(focused) == button
