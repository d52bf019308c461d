"""`/release TOKEN` as people, phones and mail programs write it (the grammar's own samples)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handoff import links
from handoff.contract import ids
from handoff.contract.commands import ReleaseCommand, read_release, without_capabilities
from handoff.transports.email_address import reply_address

TOKEN = "h7abcdefgh234567ab"


@pytest.mark.parametrize(
    "text",
    [
        f"/release {TOKEN}",
        f"!release {TOKEN}",
        f"release {TOKEN}",
        f"/RELEASE {TOKEN.upper()}",
        f"/release@Handoff_Bot {TOKEN}",
        f"/release\u00a0{TOKEN}",
        f"`/release {TOKEN}`",
        f"/release {TOKEN}.",
        f"\n \n> quoted\n  /release \t{TOKEN}  \n",
    ],
)
def test_each_spelling_is_the_command(text: str) -> None:
    assert read_release(text) == ReleaseCommand(token=TOKEN)


@pytest.mark.parametrize("between", [" ", ". ", ", ", "\t"])
def test_what_follows_the_token_is_a_note_as_it_was_typed(between: str) -> None:
    said = read_release(f"/Release {TOKEN}{between}It left on Monday, ask Ana.\n\nMore:\n> 1")
    note = "It left on Monday, ask Ana."
    assert said == ReleaseCommand(token=TOKEN, note=note, rest="More:\n> 1")


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"> /release {TOKEN}",
        f"Please do /release {TOKEN}",
        f"It is done.\n/release {TOKEN}",
        "release confirmation sent",
        "Release",
        "/released yesterday",
        "/release-notes are out",
        f"release h8{TOKEN[2:]}",
        f"release {TOKEN}x",
        "\u017frelease",
    ],
)
def test_other_text_is_an_ordinary_message(text: str) -> None:
    assert read_release(text) is None


@pytest.mark.parametrize(
    "text", ["/release", "!release now", f"/release {TOKEN}2", "/release: h7", "!RELEASE@bot_x"]
)
def test_a_command_without_a_token_is_told_from_a_message(text: str) -> None:
    said = read_release(text)
    assert said is not None
    assert said.token == ""


def test_every_token_that_is_made_is_read() -> None:
    for _ in range(200):
        token = ids.release_token()
        assert read_release(f"/release {token}") == ReleaseCommand(token=token)


@given(st.text(max_size=200))
def test_any_text_is_read_without_an_error(text: str) -> None:
    said = read_release(text)
    assert said is None or said.token == "" or ids.RELEASE_TOKEN.fullmatch(said.token)


@pytest.mark.parametrize(
    "text", ["/release", "`!release`", "\n> quoted\n /RELEASE@desk_bot \nGone."]
)
def test_a_command_alone_in_its_line_is_told_from_one_with_something_else(text: str) -> None:
    said = read_release(text)
    assert said is not None
    assert (said.token, said.bare) == ("", True)


@pytest.mark.parametrize("text", ["!release now", "/release: h7", f"/release {TOKEN}"])
def test_a_command_with_anything_after_it_is_not_bare(text: str) -> None:
    said = read_release(text)
    assert said is not None
    assert not said.bare


def test_a_text_is_passed_on_without_what_opens_or_ends_a_handoff() -> None:
    link = links.return_token(ids.link_id())
    written = reply_address(ids.session_id(), local_part="{token}", domain="in.example.org")
    address = written.partition("@")[0]
    quoted = (
        f"See https://desk.example.org/r/{link}/ or\n"
        f"https://safe.example.com/?url=https%3A%2F%2Fdesk.example.org%2Fr%2F{link}%2F&x=1\n"
        f"> /release {TOKEN} or {TOKEN.upper()}\n"
        f"> To: reply+{address}@in.example.org, support-{address.upper()}-x@in.example.org\n"
        "and https://reddit.example/r/django/ stays, as does h7 and /r/."
    )
    passed_on = without_capabilities(quoted)
    assert address not in passed_on.lower()
    assert "> To: reply+***@in.example.org, support-***-x@in.example.org\n" in passed_on
    assert link.partition(".")[0] not in passed_on
    assert link.partition(".")[2] not in passed_on
    assert TOKEN not in passed_on.lower()
    assert passed_on.count("h7***") == 2
    assert "/r/***/ or" in passed_on
    assert passed_on.endswith("https://reddit.example/r/django/ stays, as does h7 and /r/.")
