"""A shop that has the chat on its page, and the desk behind it; one pair for each module."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.embedding import Desk, Shop, embedded, launch


@pytest.fixture(scope="module")
def browser(chromium_path: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = launch(playwright, chromium_path)
        yield found
        found.close()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Desk, Shop]]:
    folder = tmp_path_factory.mktemp("embedded")
    with embedded(folder / "desk", f"sqlite:///{folder / 'desk.sqlite3'}") as running:
        yield running


@pytest.fixture
def desk(place: tuple[Desk, Shop]) -> Desk:
    return place[0]


@pytest.fixture
def shop(place: tuple[Desk, Shop]) -> Iterator[Shop]:
    desk, shop = place
    yield shop
    shop.embed(desk.url, desk.seed["token"])
