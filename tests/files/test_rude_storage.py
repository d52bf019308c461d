"""A storage that fails with errors of its own: nobody meets a fault, and nothing is lost."""

import logging
from pathlib import Path
from typing import IO, Any

import pytest
from django.test import Client
from pytest_django import Settings

from handoff.actions import files as actions
from handoff.contract import files
from handoff.errors import DeskUnavailable
from handoff.models import Agent, Conversation, File
from handoff.selectors import files as selectors
from tests import factories
from tests.fakes import storage
from tests.files import samples
from tests.files.test_storing import aged, on_disk, said, stored, trail

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def moody(settings: Settings, tmp_path: Path) -> type[storage.MoodyStorage]:
    return storage.use(settings, tmp_path)


@pytest.fixture
def agent(moody: type[storage.MoodyStorage]) -> Agent:
    return factories.owned_agent(factories.UserFactory.create(username="ada"), name="shop")


@pytest.fixture
def place(agent: Agent) -> Conversation:
    return factories.conversation(agent)


@pytest.mark.parametrize("how", ["save", "half a save"])
def test_what_is_not_stored_is_said_so_and_leaves_nothing(
    agent: Agent, place: Conversation, moody: type[storage.MoodyStorage], how: str
) -> None:
    moody.fails = {how}
    caller = Client(headers={"Authorization": f"Bearer {factories.token_of(agent).text}"})
    answer = caller.post(
        f"/api/v1/conversations/{place.public_id}/files", samples.PDF, content_type=files.PDF
    )
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "30")
    assert answer.json() == {
        "error": "The file could not be stored. Nothing was sent: try again in a moment.",
        "code": "desk_unavailable",
    }
    assert trail() == [("file.refused", "storage")]
    assert not selectors.kept().exists()
    moody.fails = set()
    actions.prune()
    assert (on_disk(), File.objects.count()) == ([], 0)


def test_a_file_that_cannot_be_fetched_now_is_not_said_to_be_gone(
    agent: Agent, place: Conversation, moody: type[storage.MoodyStorage]
) -> None:
    row = stored(place)
    said(place, row)
    moody.fails = {"open"}
    caller = Client(headers={"Authorization": f"Bearer {factories.token_of(agent).text}"})
    owner = Client()
    owner.force_login(agent.owners.get())
    url = selectors.view_url(row)
    paths = {
        caller: f"/api/v1/files/{row.public_id}",
        owner: f"/files/owner/{row.public_id}/",
        Client(): url[url.index("/files/") :],
    }
    for client, path in paths.items():
        answer = client.get(path)
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "30"), path
    [attached] = selectors.attachments(place.messages.get())
    with pytest.raises(OSError, match="AccessDenied"):
        attached.read()


def test_one_file_that_cannot_be_deleted_holds_up_no_other(
    place: Conversation,
    moody: type[storage.MoodyStorage],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    stuck, *others = [stored(place) for _ in range(4)]
    moody.fails = {stuck.stored_as}
    monkeypatch.setattr(actions, "PRUNED_AT_ONCE", 2)
    for row in (stuck, *others):
        aged(row, hours=25)
    with caplog.at_level(logging.ERROR, logger=actions.__name__):
        done = sum(actions.prune() for _ in range(20))
    assert (done, File.objects.get()) == (3, stuck)
    assert f"the content of {stuck.public_id} could not be deleted" in caplog.text
    assert "AccessDenied" in caplog.text
    moody.fails = set()
    assert actions.prune() == 1
    assert on_disk() == []


def test_a_delete_that_the_storage_refuses_holds_for_everybody_at_once(
    place: Conversation, moody: type[storage.MoodyStorage]
) -> None:
    row = stored(place)
    moody.fails = {"delete"}
    actions.delete(row, actor="agent:shop")
    assert not selectors.kept().exists()
    moody.fails = set()
    assert actions.prune() == 1
    assert on_disk() == []


def test_one_that_was_pruned_while_the_storage_took_it_leaves_no_content(
    place: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = storage.MoodyStorage.save

    def slow(self: storage.MoodyStorage, name: str | None, content: IO[Any]) -> str:
        aged(File.objects.get(), hours=2)
        actions.prune()
        return save(self, name, content)

    monkeypatch.setattr(storage.MoodyStorage, "save", slow)
    with pytest.raises(DeskUnavailable):
        stored(place)
    assert (on_disk(), File.objects.count()) == ([], 0)
