"""Files that come back: from an owner's inbox, from a sibling agent, and over the chat's socket."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from handoff.actions.endings import cancel
from handoff.actions.tickets import mint_ticket
from handoff.contract import files
from handoff.models import Agent, Conversation, File, Session
from handoff.selectors import conversations
from tests import factories
from tests.fakes import storage
from tests.files import samples

pytestmark = pytest.mark.django_db(transaction=True)
PHOTO = ("photo\u202e.png", samples.PNG, "image/png")
INVOICE = ("invoice.pdf", samples.PDF, files.PDF)


@pytest.fixture
def agent() -> Agent:
    owner = factories.UserFactory.create(username="ada", first_name="Ada", last_name="Owner")
    return factories.owned_agent(owner, name="shop")


@pytest.fixture
def place(agent: Agent) -> Conversation:
    return factories.conversation(agent, name="Ana")


@pytest.fixture
def inbox(agent: Agent) -> Client:
    browser = Client()
    browser.force_login(agent.owners.get())
    return browser


def replied(
    inbox: Client, session: Session, *sent: tuple[str, bytes, str], client_id: str = "one"
) -> Any:
    uploads = [SimpleUploadedFile(*file) for file in sent]
    return inbox.post(
        f"/inbox/h/{session.public_id}/reply/",
        {"client_id": client_id, "text": "Here you are", "files": uploads},
    )


def said(place: Conversation) -> list[tuple[str, list[str]]]:
    """Who said something with files, and their names."""
    page = conversations.messages(place, after=0, limit=50).body()
    return [
        (line["author"], [file["name"] for file in line["files"]])
        for line in page["data"]
        if "files" in line
    ]


def test_an_owner_replies_with_files_and_finds_them_on_the_page(
    agent: Agent, place: Conversation, inbox: Client
) -> None:
    session = factories.requested(agent, factories.inbox_channel(agent), place)
    assert replied(inbox, session, PHOTO, INVOICE).status_code == 302
    assert said(place) == [("person", ["photo.png", "invoice.pdf"])]
    page = inbox.get(f"/inbox/{place.public_id}/").content.decode()
    assert 'enctype="multipart/form-data"' in page
    for row in File.objects.all():
        assert f'href="/files/owner/{row.public_id}/" download' in page
    assert "\u202e" not in page


def fetched(client: Client, path: str) -> bytes:
    answer: Any = client.get(path)
    assert answer.status_code == 200
    content = b"".join(answer)
    answer.close()
    return content


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        ([("a.png", samples.HTML, "image/png")], "can&#x27;t be taken"),
        ([("a.svg", samples.SVG, "image/svg+xml")], "can&#x27;t be taken"),
        ([("a.pdf", samples.PDF + b" " * files.FILE_BYTES, files.PDF)], "at most 10 MB"),
        ([INVOICE] * 6, "at most 5 files"),
    ],
)
def test_a_reply_whose_files_are_not_taken_is_not_sent_and_stands_there_again(
    agent: Agent,
    place: Conversation,
    inbox: Client,
    sent: Sequence[tuple[str, bytes, str]],
    why: str,
) -> None:
    session = factories.requested(agent, factories.inbox_channel(agent), place)
    page = replied(inbox, session, *sent)
    assert (page.status_code, said(place)) == (422, [])
    assert why in page.content.decode()
    assert "Here you are" in page.content.decode()


REFUSALS: dict[str, tuple[dict[str, Any], str]] = {
    "type": (
        {"FILE_TYPES": ["image/png"]},
        "invoice.pdf can&#x27;t be taken. Its content has to be of the type that it says,",
    ),
    "number": ({"FILES_PER_CONVERSATION": 0}, "Not sent: this conversation holds as many files"),
    "size": ({"FILES_MB_PER_CONVERSATION": 0}, "Not sent: this conversation holds as many files"),
    "agent": ({"FILES_MB_PER_AGENT": 0}, "Not sent: this agent has no room for further files."),
    "desk": ({"FILES_MB": 0}, "Not sent: the desk has no room for further files."),
    "storage": ({}, "Not sent: invoice.pdf could not be stored. Try again in a minute."),
}


@pytest.mark.parametrize("why", files.Why)
def test_an_owner_is_told_in_words_of_the_page_why_a_file_is_not_taken(
    agent: Agent,
    place: Conversation,
    inbox: Client,
    settings: Settings,
    tmp_path: Path,
    why: files.Why,
) -> None:
    """In sentences that can be translated, and not in those for an agent's model."""
    session = factories.requested(agent, factories.inbox_channel(agent), place)
    changed, words = REFUSALS[why]
    storage.use(settings, tmp_path).fails = {"save"} if why == files.Why.STORAGE else set()
    for name, value in changed.items():
        setattr(settings, name, value)
    page = replied(inbox, session, INVOICE)
    assert page.status_code == 422
    assert words in page.content.decode()
    assert "Here you are" in page.content.decode()
    assert said(place) == []


def test_a_form_that_is_sent_twice_stores_its_files_once(
    agent: Agent, place: Conversation, inbox: Client, settings: Settings
) -> None:
    session = factories.requested(agent, factories.inbox_channel(agent), place)
    settings.FILES_PER_CONVERSATION = 2
    for _ in range(3):
        assert replied(inbox, session, PHOTO, INVOICE).status_code == 302
    assert said(place) == [("person", ["photo.png", "invoice.pdf"])]
    assert File.objects.count() == 2


def test_files_of_a_reply_that_is_not_said_do_not_stay(
    agent: Agent, place: Conversation, inbox: Client
) -> None:
    session = factories.requested(agent, factories.inbox_channel(agent), place)
    bad = ("a.png", samples.HTML, "image/png")
    assert replied(inbox, session, PHOTO, INVOICE, bad).status_code == 422
    assert not File.objects.exists()
    cancel(session, reason="", actor="agent:shop")
    assert replied(inbox, session, PHOTO, client_id="two").status_code == 409
    assert not File.objects.exists()


def test_a_command_stores_no_file(agent: Agent, place: Conversation, inbox: Client) -> None:
    session = factories.requested(agent, factories.inbox_channel(agent), place)
    inbox.post(
        f"/inbox/h/{session.public_id}/reply/",
        {
            "client_id": "one",
            "text": f"/release {session.release_token}",
            "files": [SimpleUploadedFile(*INVOICE)],
        },
    )
    assert not File.objects.exists()


def test_a_sibling_answers_with_files_that_it_uploaded_to_the_handoff(
    agent: Agent, place: Conversation
) -> None:
    orders = factories.AgentFactory.create(name="orders")
    session = factories.requested(agent, factories.sibling_channel(agent, orders), place)
    client = Client(headers={"Authorization": f"Bearer {factories.token_of(orders).text}"})

    def uploaded(handoff: str) -> Any:
        path = f"/api/v1/inbox/{handoff}/files?name=label"
        return client.post(path, samples.PDF, content_type=files.PDF)

    def reply(*ids: str) -> Any:
        args = {"handoff_session_id": session.public_id, "text": "Its label", "files": ids}
        call = {"name": "handoff_reply", "args": args, "on_behalf_of": session.public_id}
        return client.post("/api/v1/tool-calls", call, content_type="application/json").json()

    file = uploaded(session.public_id).json()
    assert file["name"] == "label.pdf"
    refused = reply(file["id"], "f_" + "a" * 26)
    assert (refused["isError"], refused["result"]["code"]) == (True, "invalid_arguments")
    assert reply(file["id"])["isError"] is False
    assert said(place) == [("sibling", ["label.pdf"])]
    assert fetched(client, f"/api/v1/files/{file['id']}") == samples.PDF
    assert uploaded("hs_" + "a" * 26).status_code == 404
    cancel(session, reason="", actor="agent:shop")
    assert uploaded(session.public_id).status_code == 400


def test_an_agent_deletes_its_own_file_and_no_other(agent: Agent, place: Conversation) -> None:
    mine, other = (
        Client(headers={"Authorization": f"Bearer {factories.token_of(one).text}"})
        for one in (agent, factories.AgentFactory.create(name="other"))
    )
    path = f"/api/v1/conversations/{place.public_id}/files?name=a"
    made = mine.post(path, samples.PNG, content_type="image/png").json()
    here = f"/api/v1/files/{made['id']}"
    assert other.delete(here).status_code == 404
    assert fetched(mine, here) == samples.PNG
    assert mine.delete(here).status_code == 204
    assert mine.get(here).status_code == 404


def test_a_page_that_the_agent_allows_uploads_from_its_own_origin(
    agent: Agent, place: Conversation
) -> None:
    Agent.objects.update(allowed_origins=["https://shop.example"])
    answers = {
        origin: Client().post(
            f"/files/?ticket={mint_ticket(place, role='subscriber').ticket}&name=a",
            samples.PNG,
            content_type="image/png",
            headers={"Origin": origin},
        )
        for origin in ("https://shop.example", "https://evil.example", "null")
    }
    read = {
        origin: (answer.status_code, answer.headers.get("Access-Control-Allow-Origin"))
        for origin, answer in answers.items()
    }
    assert read == {
        "https://shop.example": (201, "https://shop.example"),
        "https://evil.example": (403, None),
        "null": (403, None),
    }
