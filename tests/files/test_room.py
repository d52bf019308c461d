"""How much room files take: each agent has a share, and nothing is summed up to know."""

from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import pytest
from django.apps import apps
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from handoff.actions import files as actions
from handoff.actions.shelves import MEGABYTE
from handoff.contract.files import LEAST_BYTES
from handoff.errors import HandoffError, Invalid
from handoff.models import Agent, Conversation, File, Shelf
from tests import factories
from tests.fakes import storage
from tests.files.test_storing import aged, said, stored, trail

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def agent(settings: Settings, tmp_path: Path) -> Agent:
    storage.use(settings, tmp_path)
    settings.FILES_MB_PER_AGENT = 1
    return factories.AgentFactory.create(name="shop")


@pytest.fixture
def place(agent: Agent) -> Conversation:
    return factories.conversation(agent)


def taken(agent: Agent) -> int:
    return Shelf.objects.get(agent=agent).taken


def leave(agent: Agent, size: int) -> None:
    """So many bytes of its share are free."""
    Shelf.objects.filter(agent=agent).update(taken=MEGABYTE - size)


def test_one_agent_does_not_use_up_the_desk(agent: Agent, place: Conversation) -> None:
    stored(place)
    leave(agent, LEAST_BYTES - 1)
    for conversation in (place, factories.conversation(agent, "another")):
        with pytest.raises(Invalid, match="This agent has no room"):
            stored(conversation)
    stored(factories.conversation(factories.AgentFactory.create(name="orders")))
    assert [reason for action, reason in trail() if action == "file.refused"] == ["agent"] * 2


def test_a_file_of_a_few_bytes_counts_four_kilobytes(
    agent: Agent, place: Conversation, settings: Settings
) -> None:
    rows = [stored(place) for _ in range(2)]
    assert rows[0].size < 100
    assert taken(agent) == 2 * LEAST_BYTES
    leave(agent, LEAST_BYTES)
    stored(place)
    with pytest.raises(Invalid):
        stored(place)
    settings.FILES_MB_PER_AGENT, settings.FILES_MB_PER_CONVERSATION = 9, 0.012
    with pytest.raises(Invalid, match="as many files as it may"):
        stored(place)


@pytest.mark.parametrize("how", ["delete", "unsaid", "conversation", "not stored"])
def test_what_goes_gives_its_room_back_once(agent: Agent, place: Conversation, how: str) -> None:
    other = factories.conversation(agent, "other")
    row = stored(place)
    said(other, stored(other))
    if how == "delete":
        said(place, row)
        for _ in range(2):
            actions.delete(row, actor="agent:shop")
    elif how == "unsaid":
        aged(row, hours=25)
    elif how == "conversation":
        said(place, row)
        place.delete()
    else:
        aged(row, hours=25)
        storage.MoodyStorage.fails = {"save"}
        with pytest.raises(HandoffError):
            stored(place)
    for _ in range(2):
        actions.prune()
    assert taken(agent) == LEAST_BYTES


def test_an_agent_that_is_deleted_leaves_files_that_go(agent: Agent, place: Conversation) -> None:
    said(place, stored(place))
    agent.delete()
    assert actions.prune() == 1
    assert (File.objects.count(), Shelf.objects.count()) == (0, 0)


def test_the_share_holds_when_many_upload_at_once(agent: Agent) -> None:
    stored(factories.conversation(agent, "first"))
    leave(agent, 3 * LEAST_BYTES)
    places = [factories.conversation(agent, f"visitor-{number}") for number in range(8)]

    def fits(place: Conversation) -> bool:
        try:
            stored(place)
        except Invalid:
            return False
        finally:
            connections.close_all()
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(fits, places)) == 3
    assert taken(agent) == MEGABYTE


def test_an_upload_looks_at_the_files_of_no_other_conversation(place: Conversation) -> None:
    with CaptureQueriesContext(connection) as captured:
        stored(place)
    sums = [query["sql"] for query in captured if "SUM(" in query["sql"]]
    assert len(sums) == 2
    over_files = [sql for sql in sums if '"handoff_file"' in sql]
    assert all(f'"conversation_id" = {place.pk}' in sql for sql in over_files)


def test_files_that_were_there_before_are_counted_when_the_desk_is_upgraded(
    agent: Agent, place: Conversation
) -> None:
    gone, left = stored(place), stored(place)
    File.objects.filter(pk=left.pk).update(size=10 * LEAST_BYTES)
    actions.delete(gone, actor="agent:shop")
    stored(place)
    File.objects.update(agent=None)
    Shelf.objects.all().delete()
    import_module("handoff.migrations.0011_shelves").count(apps, None)
    assert taken(agent) == 11 * LEAST_BYTES
    assert not File.objects.filter(agent=None).exists()
