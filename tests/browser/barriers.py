"""What axe finds on a page."""

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page


def violations(page: Page) -> list[Any]:
    """Each rule that is broken, with the elements that break it.

    Motion is off: what fades in has no contrast yet.
    """
    page.emulate_media(reduced_motion="reduce")
    found = Axe().run(page).response["violations"]
    return [(item["id"], [node["html"] for node in item["nodes"]]) for item in found]
