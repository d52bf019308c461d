"""Files in the chat, in a real browser: chosen, sent, saved, refused."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.barriers import violations
from tests.browser.demo import Demo, demo, say
from tests.files import samples

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PATIENCE_MS = 30_000
PHOTO: Any = {"name": "photo.png", "mimeType": "image/png", "buffer": samples.PNG}
NOTES: Any = {"name": "no\u202etes.txt", "mimeType": "text/plain", "buffer": samples.TEXT}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    folder = tmp_path_factory.mktemp("demo")
    with demo(folder / "desk", f"sqlite:///{folder / 'desk.sqlite3'}") as started:
        yield started


def opened(browser: Browser, desk: Demo, **how: Any) -> tuple[Page, list[str]]:
    page, complaints = browser.new_context(**how).new_page(), list[str]()
    page.on("pageerror", lambda problem: complaints.append(str(problem)))
    page.on(
        "console",
        lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None,
    )
    page.goto(desk.address("/demo/"))
    expect(page.locator("handoff-chat textarea")).to_be_visible()
    return page, complaints


def choose(page: Page, *files: Any) -> None:
    page.locator("handoff-chat input[type=file]").set_input_files(list(files))


def test_a_visitor_sends_files_to_people_and_saves_them_again(
    browser: Browser, desk: Demo, tmp_path: Path
) -> None:
    page, complaints = opened(browser, desk)
    page.get_by_role("button", name="Where is order 1234?").click()
    expect(page.get_by_text("You are now with Sales support.")).to_be_visible(timeout=PATIENCE_MS)
    with page.expect_file_chooser() as asked:
        page.get_by_role("button", name="Attach files").click()
    asked.value.set_files([PHOTO, NOTES])
    expect(page.get_by_role("button", name="Remove no tes.txt")).to_be_visible()
    choose(page, {**PHOTO, "name": "second.png"})
    page.get_by_role("button", name="Remove second.png").click()
    expect(page.locator("handoff-chat .chosen li")).to_have_count(2)
    page.get_by_role("button", name="Send").click()

    expect(page.locator("handoff-chat .bubble").last).to_have_text("photo.png, no tes.txt")
    expect(page.get_by_text("Delivered to Sales support").last).to_be_visible(timeout=PATIENCE_MS)
    mail = desk.smtp.wait_for_message(number=2).message
    sent = [part.get_payload(decode=True) for part in mail.iter_attachments()]
    assert sent == [samples.PNG, samples.TEXT]
    page.reload()
    for name, content in (("photo.png", samples.PNG), ("no tes.txt", samples.TEXT)):
        with page.expect_download() as saved:
            page.get_by_role("button", name=name).click()
        assert saved.value.suggested_filename == name
        saved.value.save_as(tmp_path / "saved")
        assert (tmp_path / "saved").read_bytes() == content
    assert page.url == desk.address("/demo/")
    assert complaints == []
    page.context.close()


def test_what_cannot_be_sent_is_told_and_the_line_goes_without_it(
    browser: Browser, desk: Demo
) -> None:
    page, _ = opened(browser, desk)
    fate = page.locator("handoff-chat .file-fate")
    choose(page, {"name": "page.png", "mimeType": "image/png", "buffer": samples.HTML})
    expect(fate).to_have_text("page.png can’t be sent: this kind of file is not taken.")
    choose(page, {**PHOTO, "name": "big.png", "buffer": b"x" * (10 * 1024 * 1024 + 1)})
    expect(fate).to_have_text("big.png is too large: at most 10 MB.")
    choose(page, *[{**PHOTO, "name": f"{number}.png"} for number in range(6)])
    expect(fate).to_have_text("At most 5 files at once.")
    expect(page.locator("handoff-chat .chosen li")).to_have_count(5)
    for _ in range(5):
        page.locator("handoff-chat .off").first.click()
    page.route("**/files/**", lambda route: route.abort())
    choose(page, PHOTO)
    expect(fate).to_have_text("photo.png could not be sent. Please try again.")
    say(page, "Then without.")
    expect(page.locator("handoff-chat .bubble").last).to_have_text("Then without.")
    expect(page.locator("handoff-chat .file")).to_have_count(0)
    page.context.close()


@pytest.mark.parametrize(
    ("locale", "scheme", "width"),
    [("en", "light", 1200), ("de", "dark", 400), ("ar", "light", 320)],
)
def test_it_is_for_everybody(
    browser: Browser, desk: Demo, locale: str, scheme: Any, width: int, tmp_path: Path
) -> None:
    page, _ = opened(
        browser,
        desk,
        locale=locale,
        color_scheme=scheme,
        viewport={"width": width, "height": 900},
    )
    ready = page.locator("handoff-chat .chosen li:not(.busy)")
    choose(page, PHOTO, NOTES)
    expect(ready).to_have_count(2)
    page.locator("handoff-chat .send").click()
    expect(page.locator("handoff-chat .you button.file")).to_have_count(2)
    long = {**PHOTO, "name": "a very long name that somebody gave to a photo of a lamp.png"}
    choose(page, long, PHOTO)
    expect(ready).to_have_count(2)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.screenshot(path=tmp_path / "chat.png")
    page.locator("handoff-chat .clip").focus()
    for _ in range(2):
        page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.localName") == "handoff-chat"
    page.context.close()
