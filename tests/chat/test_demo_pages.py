"""The demo's pages as a browser without scripts gets them."""

import re
from collections.abc import Iterator

import pytest
from django.test import Client, override_settings

from handoff.actions.tickets import redeem
from handoff.models import Agent, Conversation
from tests import factories

pytestmark = pytest.mark.django_db
PATHS = (
    "/demo/",
    "/demo/ticket/",
    "/demo/again/",
    "/demo/mail/",
    "/demo/mail/1764511111111111111-0a1b2c3d.eml/",
    "/demo/mail/1764511111111111111-0a1b2c3d.eml/html/",
)


@pytest.fixture
def demo() -> Iterator[Agent]:
    with override_settings(DEMO=True):
        yield factories.AgentFactory.create(name="demo", display_name="Shop bot")


def ticket(client: Client) -> dict[str, str]:
    found = client.post("/demo/ticket/", headers={"host": "localhost:8000"})
    assert found.status_code == 201
    body: dict[str, str] = found.json()
    return body


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["get", "head", "post", "put", "options"])
def test_without_the_demo_none_of_its_pages_exists(method: str, path: str) -> None:
    factories.AgentFactory.create(name="demo")
    assert getattr(Client(), method)(path).status_code == 404


def test_the_front_page_leads_to_the_demo_or_else_to_the_inbox() -> None:
    assert Client().get("/")["Location"] == "/inbox/"
    with override_settings(DEMO=True):
        assert Client().get("/")["Location"] == "/demo/"


@pytest.mark.usefixtures("demo")
def test_the_page_holds_the_chat_and_says_where_to_look() -> None:
    page = Client().get("/demo/").content.decode()
    assert '<handoff-chat ticket-url="/demo/ticket/"' in page
    assert 'heading="Shop bot"' in page
    assert 'href="/demo/mail/"' in page
    assert 'href="/inbox/"' in page
    assert "style=" not in page
    assert not re.search(r"<script(?![^>]* src=)", page)


@pytest.mark.usefixtures("demo")
def test_looking_at_the_page_writes_nothing() -> None:
    Client().get("/demo/")
    assert not Conversation.objects.exists()


def test_a_browser_keeps_its_conversation_and_another_has_its_own(demo: Agent) -> None:
    browser, other = Client(), Client()
    browser.get("/demo/")
    grants = [redeem(ticket(one)["ticket"]) for one in (browser, browser, other)]
    mine, again, theirs = (grant.conversation if grant else "" for grant in grants)
    assert mine == again != theirs
    assert {grant.role for grant in grants if grant} == {"subscriber"}
    assert Conversation.objects.filter(agent=demo).count() == 2


@pytest.mark.usefixtures("demo")
def test_the_socket_of_a_ticket_is_where_the_page_came_from() -> None:
    assert ticket(Client())["url"].startswith("ws://localhost:8000/ws/chat?ticket=")


@pytest.mark.usefixtures("demo")
def test_a_forged_cookie_opens_nobody_elses_conversation() -> None:
    victim, thief = Client(), Client()
    ticket(victim)
    external_id = Conversation.objects.get().external_id
    thief.cookies["handoff_demo"] = (
        f"{external_id}:1xY2Gj:ErNr-lygrqmpGCsEKlyWOBWZJ1OjIp0VNISWjlfaNFo"
    )
    ticket(thief)
    assert Conversation.objects.count() == 2


@pytest.mark.usefixtures("demo")
def test_a_ticket_needs_the_pages_csrf_token() -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.get("/demo/")
    assert browser.post("/demo/ticket/").status_code == 403
    token = browser.cookies["csrftoken"].value
    assert browser.post("/demo/ticket/", headers={"x-csrftoken": token}).status_code == 201


@pytest.mark.usefixtures("demo")
def test_beginning_again_gives_a_new_conversation_and_keeps_the_old_one() -> None:
    browser = Client()
    first = redeem(ticket(browser)["ticket"])
    assert browser.post("/demo/again/")["Location"] == "/demo/"
    second = redeem(ticket(browser)["ticket"])
    assert first is not None
    assert second is not None
    assert first.conversation != second.conversation
    assert Conversation.objects.count() == 2


def test_a_disabled_agent_has_no_chat(demo: Agent) -> None:
    Agent.objects.filter(pk=demo.pk).update(enabled=False)
    assert Client().get("/demo/").status_code == 404
    assert Client().post("/demo/ticket/").status_code == 404
