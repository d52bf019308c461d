"""The page of a conversation and of a detached handoff."""

import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from handoff.actions.turns import post_turn
from handoff.contract.turns import TurnBody
from handoff.models import Session
from handoff.selectors import threads
from tests import factories, programs
from tests.inbox.conftest import Desk

HOSTILE = [
    "<script>alert(1)</script> and twenty characters more",
    '"><img src=x onerror=alert(1)> with some more words',
    "javascript:alert(1) [a](javascript:alert(2)) **bold**",
    "{{ request.user.password }} {% csrf_token %} more words",
    "</textarea></template><svg onload=alert(1)> more words",
]


def page_of(desk: Desk, inbox: Client) -> str:
    return inbox.get(desk.page).content.decode()


def test_the_strip_says_state_channel_holder_clocks_and_urgency(desk: Desk, inbox: Client) -> None:
    session = desk.requested(urgency="high")
    page = page_of(desk, inbox).replace("\xa0", " ")

    for said in (
        "Active",
        "High urgency",
        "by owner inbox to",
        "<bdi>Shop team</bdi>",
        "nobody holds it",
        factories.SUMMARY,
        factories.EXPECTED_ACTION,
        "Order status",
    ):
        assert said in page
    assert re.search(r"back to the agent in (29|30) minutes unless somebody acts", page)
    assert f'href="/r/owner/{session.public_id}/"' in page
    for button in ("reply", "release", "claim", "cancel"):
        assert f'action="/inbox/h/{session.public_id}/{button}/"' in page


def test_the_transcript_names_who_said_what_and_keeps_line_breaks(
    desk: Desk, inbox: Client
) -> None:
    desk.says("where is\norder 1234?", client_id="1")
    post_turn(
        desk.conversation, TurnBody(client_id="2", author="agent", text="I will ask a person.")
    )
    desk.requested()
    post_turn(desk.conversation, TurnBody(client_id="3", author="agent", text="I talk over them."))
    page = page_of(desk, inbox)

    assert re.search(r'class="line-text" dir="auto">where is\norder 1234\?</p>', page)
    assert page.index("Sam Visitor") < page.index("where is") < page.index("I will ask")
    assert "<span>Subscriber</span>" in page
    assert "<span>Agent</span>" in page
    assert "I talk over them." not in page


def test_only_the_newest_lines_are_shown_and_the_earlier_ones_are_a_link_away(
    desk: Desk, inbox: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.TURNS_PER_SECOND = 0
    monkeypatch.setattr(threads, "LINES", 20)
    for number in range(23):
        desk.says(f"line number {number}.", client_id=str(number))
    page = page_of(desk, inbox)

    assert "line number 2." not in page
    assert "line number 3." in page
    earlier = inbox.get(link_to("before", page)).content.decode()
    assert "line number 2." in earlier
    assert "line number 3." not in earlier
    assert "Show earlier lines" not in earlier
    for nonsense in ("before=-1", f"before={'9' * 40}", "after=x", f"after={'9' * 18}"):
        assert "line number 22." in inbox.get(f"{desk.page}?{nonsense}").content.decode()


def link_to(where: str, page: str) -> str:
    found = re.search(rf'href="(/inbox/c_\w+/\?{where}=\d+)#transcript"', page)
    assert found is not None
    return found[1]


def test_a_long_conversation_can_be_read_on_in_both_directions_without_a_gap(
    desk: Desk, inbox: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "LINES", 4)
    for number in range(10, 20):
        desk.says(f"line {number}.", client_id=str(number))

    def lines(page: str) -> list[str]:
        return re.findall(r"line (\d+)\.", page)

    newest = page_of(desk, inbox)
    middle = inbox.get(link_to("before", newest)).content.decode()
    oldest = inbox.get(link_to("before", middle)).content.decode()
    assert lines(oldest) + lines(middle) + lines(newest) == [str(n) for n in range(10, 20)]
    assert lines(inbox.get(link_to("after", middle)).content.decode()) == lines(newest)
    onward = inbox.get(link_to("after", oldest)).content.decode()
    assert lines(onward) == ["12", "13", "14", "15"]
    assert "scroller-top" in onward, "it goes on at the top, where the page before ended"
    assert "Show the newest lines" not in newest


def test_a_failed_handoff_shows_the_agents_sentence_and_to_owners_the_cause(
    desk: Desk, inbox: Client
) -> None:
    channel = factories.email_channel(
        desk.agent, smtp_url=f"smtp://127.0.0.1:{programs.free_port()}"
    )
    session = factories.requested(desk.agent, channel, desk.conversation)
    page = page_of(desk, inbox)

    assert "Failed: nobody was reached" in page
    assert "Nobody could be asked: the Sales support channel did not accept the message." in page
    assert "The provider could not be connected to." in page
    assert f"/inbox/h/{session.public_id}/" not in page
    assert "/r/owner/" not in page
    assert 'id="reply-text"' not in page

    desk.requested()
    page = page_of(desk, inbox)
    assert page.count('class="strip sheet') == 1
    assert page.index("Handoffs that have ended") < page.index("Nobody could be asked")


def test_an_unknown_handoff_can_be_ended_and_filled_in_but_not_replied_to(
    desk: Desk, inbox: Client
) -> None:
    session = desk.requested()
    Session.objects.filter(pk=session.pk).update(status="unknown")
    page = page_of(desk, inbox)

    assert "It is not known whether Shop team was reached." in page
    assert f"/inbox/h/{session.public_id}/release/" in page
    assert f"/inbox/h/{session.public_id}/cancel/" in page
    assert "/r/owner/" in page
    for button in ("reply", "claim"):
        assert f"/inbox/h/{session.public_id}/{button}/" not in page


def test_a_released_handoff_has_no_buttons_but_a_late_return(desk: Desk, inbox: Client) -> None:
    session = desk.requested()
    inbox.post(f"/inbox/h/{session.public_id}/cancel/", {"reason": "asked twice"})
    page = page_of(desk, inbox)

    assert 'class="strip sheet' not in page
    assert f"/inbox/h/{session.public_id}/" not in page
    assert f"/r/owner/{session.public_id}/" in page
    assert "It reaches the agent as a late return." in page

    factories.answer(session, factories.form(session))
    assert "/r/owner/" not in page_of(desk, inbox)


def test_a_detached_handoff_has_a_page_with_what_came_back(desk: Desk, inbox: Client) -> None:
    session = factories.requested(desk.agent, desk.channel)
    address = f"/inbox/h/{session.public_id}/"
    page = inbox.get(address).content.decode()
    assert "Handoff without a conversation" in page
    assert f"/r/owner/{session.public_id}/" in page
    assert f"{address}release/" in page
    assert f"{address}reply/" not in page
    assert "back to the agent in" not in page

    factories.answer(session, factories.form(session, note="Left it\nat the door."))
    page = inbox.get(address).content.decode()
    assert "order_status: shipped" in page
    assert "Left it\nat the door." in page
    assert "Mia" in page
    assert "release/" not in page


@pytest.mark.parametrize("hostile", HOSTILE)
def test_what_others_wrote_is_shown_as_text_and_nothing_else(
    desk: Desk, inbox: Client, hostile: str
) -> None:
    other = factories.conversation(desk.agent, external_id=hostile[:200], name=hostile[:100])
    session = desk.requested(
        other,
        summary=hostile,
        expected_action=hostile,
        extra_context={hostile: hostile},
        expected_return=[{"name": "a", "type": "string", "label": hostile}],
    )
    Desk(desk.owner, desk.agent, desk.channel, other).says(hostile, client_id="1")
    detached = factories.requested(desk.agent, desk.channel, summary=hostile)
    inbox.post(
        f"/inbox/h/{detached.public_id}/release/", {"outcome": "resolved", "message": hostile}
    )

    for path in (
        "/inbox/",
        f"/inbox/?q={hostile[:20]}",
        f"/inbox/{other.public_id}/",
        f"/inbox/h/{detached.public_id}/",
    ):
        page = inbox.get(path).content.decode()
        assert not re.search(
            r"<(script(?! type=\"module\" src=\"/static/)|img src=x|svg onload)", page
        )
        assert 'href="javascript:' not in page
        assert desk.owner.password not in page
    typed = inbox.post(
        f"/inbox/h/{session.public_id}/reply/", {"client_id": "1", "text": hostile * 400}
    )
    assert typed.status_code == 422
    assert "<img src=x" not in typed.content.decode()


def test_overrides_of_the_writing_direction_are_shown_escaped(desk: Desk, inbox: Client) -> None:
    desk.says("pay \u202e0001\u202c now", client_id="1")
    page = page_of(desk, inbox)
    assert "\u202e" not in page
    assert r"pay \u202e0001\u202c now" in page


def test_the_number_of_queries_does_not_grow_with_the_conversation(
    desk: Desk, inbox: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(5):
        desk.says(f"line {number}", client_id=str(number))
        session = desk.requested()
        inbox.post(f"/inbox/h/{session.public_id}/cancel/", {"reason": ""})
    desk.requested()
    inbox.get(desk.page)
    with django_assert_max_num_queries(10):
        inbox.get(desk.page)
