"""The API as a page, in a real browser: readable by everybody, and without a script as well."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests import environment
from tests.config.servers import running
from tests.reliability.sizes import sizes

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.once]

LOOKS: Final[list[dict[str, Any]]] = [
    {"color_scheme": "light", "viewport": {"width": 1440, "height": 900}},
    {"color_scheme": "dark", "viewport": {"width": 400, "height": 800}},
    {"color_scheme": "light", "viewport": {"width": 320, "height": 640}, "locale": "ar"},
]

FEWER: Final = """size => document.querySelectorAll("section:has(> article)").forEach(
    section => [...section.querySelectorAll("article")].slice(size).forEach(one => one.remove())
)"""


@pytest.fixture
def address(tmp_path: Path, database_url: str) -> Iterator[str]:
    variables = {"DATABASE_URL": database_url, "LANGUAGES": "en,ar"}
    subprocess.run(
        [sys.executable, "manage.py", "collectstatic", "--noinput"],
        cwd=environment.ROOT,
        env=environment.clean_environment(tmp_path) | variables,
        check=True,
        capture_output=True,
        timeout=60,
    )
    with running(tmp_path, database_url, settings="config.settings", environ=variables) as server:
        yield f"http://127.0.0.1:{server.port}/api/v1/docs"


@pytest.fixture
def chromium(chromium_path: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=["--no-sandbox"])
        yield browser
        browser.close()


def opened(browser: Browser, address: str, **look: Any) -> tuple[Page, list[str]]:
    """The page under its own policy, and what the browser complains of."""
    page = browser.new_context(**look).new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text))
    page.on(
        "request",
        lambda asked: None if asked.url.startswith(address[:20]) else complaints.append(asked.url),
    )
    page.goto(address)
    return page, complaints


@sizes(quick=1, full=1000)
def test_the_page_is_for_everybody(size: int, chromium: Browser, address: str) -> None:
    """`size` articles of each kind are looked at closely; they are all made alike."""
    for look in LOOKS if size > 1 else LOOKS[1:]:
        fits_and_has_no_barrier(chromium, address, size, look)
    is_read_and_unfolded_without_scripts(chromium, address)
    copies_a_sample_as_it_stands(chromium, address)


def fits_and_has_no_barrier(
    chromium: Browser, address: str, size: int, look: dict[str, Any]
) -> None:
    page, complaints = opened(chromium, address, **look)
    expect(page.get_by_role("button", name="Copy").first).to_be_visible()
    assert complaints == [], look
    page.locator("details").evaluate_all("all => all.forEach(part => { part.open = true })")
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width == look["viewport"]["width"], look
    direction = "rtl" if look.get("locale") == "ar" else "ltr"
    assert page.locator("html").get_attribute("dir") == direction

    page, _ = opened(chromium, address, **look, bypass_csp=True)  # for axe, which is a script
    page.locator("details").evaluate_all("all => all.forEach(part => { part.open = true })")
    page.evaluate(FEWER, size)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def is_read_and_unfolded_without_scripts(chromium: Browser, address: str) -> None:
    page, complaints = opened(chromium, address, java_script_enabled=False)
    contents = page.get_by_role("navigation", name="Operations")
    contents.get_by_role("link", name="Call a tool", exact=True).click()
    assert page.url.endswith("#call_tool")
    operation = page.locator("#call_tool")
    expect(operation.get_by_text("Idempotency-Key")).to_be_visible()
    answer = operation.locator("details", has_text="401")
    answer.locator("summary").click()
    answer.get_by_role("link", name="Example").click()
    assert page.url.endswith("#refusal401")
    refusal = page.get_by_role("article", name="401 Unauthorized")
    expect(refusal.get_by_text('"error": "Not authorised."')).to_be_in_viewport()
    operation.get_by_role("link", name="ToolCall").click()
    expect(page.get_by_role("article", name="ToolCall")).to_be_in_viewport()
    assert complaints == []
    assert page.get_by_role("button").count() == 0


def copies_a_sample_as_it_stands(chromium: Browser, address: str) -> None:
    page, complaints = opened(chromium, address, permissions=["clipboard-read", "clipboard-write"])
    sample = page.locator("#me .sample").first
    sample.get_by_role("button", name="Copy").click()
    expect(sample.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert re.fullmatch(r'curl "\$DESK_URL/api/v1/me" \\\n  --header "Auth.*"', copied)
    assert complaints == []
