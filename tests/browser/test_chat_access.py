"""The embedded chat for everybody: languages, directions, small screens, keyboards, axe."""

from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.browser.barriers import violations
from tests.browser.embedding import Desk, Shop, visitor_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PATIENCE_MS: Final = 30_000
PHONE: Final = ViewportSize(width=320, height=640)
LANGUAGES: Final = {
    "en": ("ltr", "Write a message", "Send"),
    "de-AT": ("ltr", "Nachricht schreiben", "Senden"),
    "fr": ("ltr", "Écrire un message", "Envoyer"),
    "es-MX": ("ltr", "Escribe un mensaje", "Enviar"),
    "pt-BR": ("ltr", "Escreva uma mensagem", "Enviar"),
    "ar": ("rtl", "اكتب رسالة", "إرسال"),
    "ja": ("ltr", "メッセージを書く", "送信"),
}


def opened(page: Page, shop: Shop) -> Page:
    page.goto(shop.url())
    expect(page.locator("handoff-chat .status")).to_have_attribute("data-state", "open")
    return page


def type_in(page: Page, text: str) -> None:
    box = page.locator("handoff-chat .input")
    box.fill(text)
    box.press("Enter")


def spoken(page: Page) -> tuple[str, str, str]:
    """The direction of the chat, and two of its words."""
    return (
        page.locator("handoff-chat .chat").evaluate("it => getComputedStyle(it).direction"),
        page.locator("handoff-chat .input").get_attribute("placeholder") or "",
        page.locator("handoff-chat .send").inner_text(),
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_speaks_the_language_of_its_element(browser: Browser, shop: Shop, language: str) -> None:
    shop.html = shop.html.replace("<handoff-chat", f'<handoff-chat lang="{language}"')
    page = opened(browser.new_page(locale="ja-JP"), shop)
    assert spoken(page) == LANGUAGES[language]
    page.context.close()


def test_it_speaks_the_pages_language_else_the_browsers_else_english(
    browser: Browser, shop: Shop
) -> None:
    page = browser.new_page(locale="fr-CA")
    plain = shop.html
    for on_the_page, expected in (("de", "de-AT"), ("nl", "fr"), ("", "fr")):
        shop.html = plain.replace('lang="en"', f'lang="{on_the_page}"')
        assert spoken(opened(page, shop)) == LANGUAGES[expected]
    page.context.close()
    page = opened(browser.new_page(locale="nl-NL"), shop)
    assert spoken(page) == LANGUAGES["en"]
    page.context.close()


def test_a_page_may_bring_its_own_words(browser: Browser, shop: Shop) -> None:
    words = '{"send": "שליחה", "unknown": "x", "log": 5}'
    shop.html = shop.html.replace("<handoff-chat", f"<handoff-chat lang='he' texts='{words}'")
    page = opened(browser.new_page(), shop)
    assert spoken(page) == ("rtl", "Write a message", "שליחה")
    expect(page.get_by_role("log", name="Conversation")).to_be_visible()
    page.context.close()


def test_every_language_has_every_text_with_the_same_blanks(browser: Browser, desk: Desk) -> None:
    page = browser.new_page()
    page.goto(desk.url + "/static/handoff/mark.svg")
    words: dict[str, dict[str, str]] = page.evaluate(
        """async () => {
          const { TEXTS } = await import("/static/handoff/chat-texts.js");
          const found = { en: TEXTS };
          for (const name of ["ar", "de", "es", "fr", "ja", "pt"]) {
            found[name] = (await import(`/static/handoff/chat-words-${name}.js`)).default;
          }
          return found;
        }"""
    )
    page.context.close()

    def blanks(text: str) -> set[str]:
        return {piece.partition("}")[0] for piece in text.split("{")[1:]}

    english = words.pop("en")
    for name, texts in words.items():
        assert list(texts) == list(english), name
        for key, text in texts.items():
            assert text.strip() == text != "", (name, key)
            assert blanks(text) == blanks(english[key]), (name, key)


def tell_a_story(page: Page, desk: Desk) -> None:
    """Every kind of line stands in the chat, the handoff is active, and one line is unsent."""
    visitor = visitor_of(page)
    type_in(page, "Where is order 1234?\nIt is a lamp.")
    expect(page.locator(".you")).to_have_count(1)
    desk.says(visitor, "One moment, please.")
    desk.cancel(desk.hand_over(visitor, "inbox"))
    expect(page.locator("li.note")).to_have_count(1)
    desk.hand_over(visitor, "mail")
    type_in(page, "x" * 300)
    expect(page.locator("[data-fate='delivered']")).to_be_visible(timeout=PATIENCE_MS)
    desk.smtp.recipients["sales@example.com"] = "550 5.1.1 no"
    try:
        type_in(page, "Hello?")
        expect(page.locator("[data-fate='undelivered']")).to_be_visible(timeout=PATIENCE_MS)
    finally:
        desk.smtp.recipients.clear()
    page.context.set_offline(True)
    type_in(page, "And now?")
    expect(page.locator(".unsent .fate")).to_be_visible()


@pytest.mark.parametrize(
    ("language", "how"),
    [
        ("en", {"color_scheme": "light"}),
        ("en", {"color_scheme": "dark"}),
        ("ar", {"color_scheme": "light"}),
        ("ar", {"color_scheme": "dark"}),
        ("de", {"forced_colors": "active"}),
    ],
)
def test_axe_finds_no_barrier_at_320_pixels_in_either_direction_and_scheme(
    browser: Browser, desk: Desk, shop: Shop, language: str, how: Any
) -> None:
    shop.html = shop.html.replace("<handoff-chat", f'<handoff-chat scheme="auto" lang="{language}"')
    page = browser.new_page(
        viewport=PHONE,
        bypass_csp=True,  # axe is put into the page as a script
        **how,
    )
    opened(page, shop)
    tell_a_story(page, desk)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    scroller = page.locator("handoff-chat .scroller")
    assert scroller.evaluate("it => it.scrollWidth <= it.clientWidth")
    chat = page.locator("handoff-chat .chat").evaluate("it => it.getBoundingClientRect().toJSON()")
    for control in (".back", ".input", ".send"):
        box = page.locator(f"handoff-chat {control}").bounding_box()
        assert box is not None
        assert box["height"] >= 24
        assert chat["left"] <= box["x"]
        assert box["x"] + box["width"] <= chat["right"]
    page.context.close()


def test_a_screen_reader_hears_what_is_new_and_not_the_history(
    browser: Browser, desk: Desk, shop: Shop
) -> None:
    page = opened(browser.new_page(), shop)
    visitor, log = visitor_of(page), page.get_by_role("log", name="Conversation")
    desk.says(visitor, "Hello!")
    expect(page.locator(".bot")).to_be_visible()
    expect(log).to_have_attribute("aria-live", "polite")
    page.reload()
    expect(page.locator(".bot")).to_be_visible()
    expect(log).to_have_attribute("aria-live", "off")
    page.context.set_offline(True)
    expect(page.get_by_role("status").get_by_text("You are offline.")).to_be_visible()
    desk.says(visitor, "Are you there?")
    page.context.set_offline(False)
    expect(page.locator(".bot")).to_have_count(2, timeout=PATIENCE_MS)
    expect(log).to_have_attribute("aria-live", "polite")
    page.context.close()


def test_the_focus_is_never_lost(browser: Browser, desk: Desk, shop: Shop) -> None:
    page = opened(browser.new_page(), shop)
    visitor = visitor_of(page)
    focused = "document.activeElement.shadowRoot?.activeElement?.className"
    session = desk.hand_over(visitor, "inbox")
    back = page.get_by_role("button", name="Back to the bot")
    back.focus()
    desk.cancel(session)
    expect(back).to_be_hidden()
    assert page.evaluate(focused) == "input"

    desk.hand_over(visitor, "inbox")
    back.press("Enter")
    expect(page.get_by_text("You are back with the bot.", exact=True)).to_be_visible()
    expect(back).to_be_hidden()
    assert page.evaluate(focused) == "input"

    page.locator("handoff-chat .input").press("Shift+Tab")
    assert page.evaluate(focused) == "scroller"
    type_in(page, "\n".join("line" for _ in range(40)))
    expect(page.locator(".you")).to_have_count(1)
    page.get_by_role("log").press("Home")
    expect(page.locator("handoff-chat .scroller")).to_have_js_property("scrollTop", 0)
    desk.says(visitor, "Hello!")
    newer = page.get_by_role("button", name="New messages")
    newer.press("Enter")
    expect(newer).to_be_hidden()
    assert page.evaluate(focused) == "scroller"
    page.context.close()
