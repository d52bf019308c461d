"""The admin in a real Chromium: under the strict policy, in both colour schemes."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from tests import environment
from tests.config.servers import Server, running

PASSWORD = "correct horse battery"
WATCH = """document.addEventListener('securitypolicyviolation', (event) => {
  console.error(`CSP ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`);
});"""
PAGES = (
    "",
    "handoff/agent/",
    "handoff/agent/add/",
    "handoff/agent/1/change/",
    "handoff/agent/1/issue-token/",
    "handoff/channel/",
    "handoff/channel/add/",
    "handoff/channel/add/?kind=email",
    "handoff/channel/1/change/",
    "handoff/session/",
    "handoff/conversation/",
    "handoff/message/",
    "handoff/event/",
    "handoff/delivery/",
    "audit/event/",
    "auth/user/1/change/",
    "auth/group/add/",
    "password_change/",
)
CLOSELY = ("", "handoff/agent/1/change/", "handoff/channel/1/change/", "audit/event/")
pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.once]


@pytest.fixture
def desk(tmp_path: Path, database_url: str) -> Iterator[Server]:
    """A server with an admin `boss`, the agent 1 and its email channel 1."""
    variables = environment.clean_environment(tmp_path) | {
        "DATABASE_URL": database_url,
        "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
    }
    config = json.dumps({"to": "sales@example.com", "smtp_url": "smtp://me:secret@127.0.0.1:9"})
    for command in (
        ("collectstatic", "--noinput"),
        ("createsuperuser", "--noinput", "--username", "boss", "--email", "b@example.com"),
        ("new_agent", "demo", "--owner", "boss"),
        ("new_channel", "--agent=demo", "--kind=email", "--label=Sales", "--config", config),
    ):
        subprocess.run(
            [sys.executable, "manage.py", *command],
            cwd=environment.ROOT,
            env=variables,
            check=True,
            capture_output=True,
            timeout=60,
        )
    with running(tmp_path, database_url, settings="config.settings") as server:
        yield server


@pytest.fixture
def chromium(chromium_path: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=["--no-sandbox"])
        yield browser
        browser.close()


def open_page(browser: Browser, scheme: str, complaints: list[str]) -> Page:
    """A page that collects what the browser complains of."""
    page = browser.new_page(color_scheme="dark" if scheme == "dark" else "light")
    page.set_default_timeout(10_000)
    page.add_init_script(WATCH)
    page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
    page.on(
        "console",
        lambda said: (
            complaints.append(f"{page.url}: {said.text}")
            if said.type in ("error", "warning")
            else None
        ),
    )
    return page


def sign_in(page: Page, base: str) -> None:
    page.goto(base)
    page.fill("#id_username", "boss")
    page.fill("#id_password", PASSWORD)
    page.click("[type=submit]")
    page.wait_for_selector(".desk-cards")


def visit(page: Page, address: str, *, look_closely: bool) -> list[str]:
    """Open a page; what axe finds wrong with it when it is looked at closely."""
    answer = page.goto(address)
    assert answer is not None
    assert answer.status == 200, address
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    if not look_closely:
        return []
    found = Axe().run(page, options={"runOnly": ["color-contrast", "label", "button-name"]})
    return [
        f"{address}: {fault['id']} {node['html'][:120]}"
        for fault in found.response["violations"]
        for node in fault["nodes"]
    ]


def test_the_admin_keeps_to_the_policy_and_can_be_read_and_used(
    desk: Server, chromium: Browser
) -> None:
    base = f"http://127.0.0.1:{desk.port}/admin/"
    complaints: list[str] = []
    faults: list[str] = []
    for scheme in ("light", "dark"):
        page = open_page(chromium, scheme, complaints)
        faults += visit(page, f"{base}login/", look_closely=True)
        sign_in(page, base)
        for path in PAGES:
            faults += visit(page, base + path, look_closely=path in CLOSELY)
    page.goto(f"{base}handoff/channel/1/change/")
    page.get_by_role("button", name="Test channel").click()
    page.get_by_text("It does not work yet.").wait_for()
    page.goto(f"{base}handoff/agent/1/change/")
    page.get_by_role("link", name="Issue a token").click()
    page.get_by_role("button", name="Issue the token").click()
    assert page.get_by_label("Token").input_value().startswith("hd_")
    page.goto(f"{base}handoff/channel/1/change/")
    page.fill("#id_label", "Sales support")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("was changed successfully").wait_for()
    assert complaints == []
    assert faults == []
