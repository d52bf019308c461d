"""What a desk keeps of files, how much, for how long, and what a killed process leaves behind."""

import datetime as dt
import io
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as configured
from django.core.files.storage import storages
from django.db import connection
from django.db.models.functions import Now
from pytest_django import Settings

from audit.models import Event as AuditEvent
from handoff.actions import files as actions
from handoff.actions.endings import cancel
from handoff.actions.events import locked, say
from handoff.actions.turns import post_turn
from handoff.actions.writing import writing
from handoff.contract import files
from handoff.contract.kinds import Author
from handoff.contract.turns import TurnBody
from handoff.errors import DeskUnavailable, HandoffError, Invalid, NotFound, TooFast, TooLarge
from handoff.models import Agent, Conversation, File
from handoff.selectors import conversations
from handoff.selectors import files as selectors
from handoff.tasks import forget_files
from tests import factories
from tests.files import samples

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def place() -> Conversation:
    return factories.conversation(factories.AgentFactory.create(name="shop"))


def stored(place: Conversation, content: bytes = samples.PDF, *, name: str = "a.pdf") -> File:
    return actions.store(
        place,
        by=Author.SUBSCRIBER,
        actor="subscriber",
        name=name,
        content_type=files.PDF,
        content=io.BytesIO(content),
    )


def said(place: Conversation, *rows: File, text: str = "Here") -> Any:
    ids = [row.public_id for row in rows]
    body = TurnBody(client_id=text, author="subscriber", text=text, files=ids)
    return post_turn(place, body).message


def on_disk() -> list[Path]:
    return [path for path in Path(configured.MEDIA_ROOT).rglob("*") if path.is_file()]


def trail() -> list[tuple[str, str]]:
    rows = AuditEvent.objects.filter(action__startswith="file.").order_by("pk")
    return list(rows.values_list("action", "reason"))


def aged(row: File, **ago: float) -> None:
    File.objects.filter(pk=row.pk).update(created_at=Now() - dt.timedelta(**ago))


@pytest.fixture(autouse=True)
def _own_folder(settings: Settings, tmp_path: Path) -> None:
    options = {**configured.STORAGES["files"]["OPTIONS"], "location": tmp_path}
    files_storage = {**configured.STORAGES["files"], "OPTIONS": options}
    settings.MEDIA_ROOT = tmp_path
    settings.STORAGES = {**configured.STORAGES, "files": files_storage}


def test_it_lies_under_a_random_name_for_the_desk_alone(place: Conversation) -> None:
    row = stored(place, name="invoice.pdf")
    [file] = on_disk()
    assert file.read_bytes() == samples.PDF
    assert "invoice" not in str(file)
    assert file.name == row.stored_as[3:]
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    [event] = AuditEvent.objects.filter(action="file.stored")
    assert event.details == {"file": row.public_id, "type": files.PDF, "bytes": row.size}
    assert "invoice" not in str(event.__dict__)


def test_a_conversation_and_the_desk_hold_so_much_and_no_more(
    place: Conversation, settings: Settings
) -> None:
    settings.FILES_PER_CONVERSATION = 2
    for _ in range(2):
        stored(place)
    with pytest.raises(Invalid, match="as many files as it may"):
        stored(place)
    settings.FILES_PER_CONVERSATION, settings.FILES_MB_PER_CONVERSATION = 9, 0
    with pytest.raises(Invalid, match="as many files as it may"):
        stored(place)
    settings.FILES_MB_PER_CONVERSATION, settings.FILES_MB = 9, 0
    with pytest.raises(Invalid, match="no room"):
        stored(place)
    settings.FILES_MB, settings.FILES_PER_MINUTE = 9, 1
    with pytest.raises(TooFast):
        stored(place)
    with pytest.raises(TooLarge, match="at most 10 MB"):
        stored(place, samples.PDF + b" " * files.FILE_BYTES)
    settings.FILE_TYPES = ["image/png"]
    with pytest.raises(Invalid, match=r"can't be taken.*image/png$|image/png\.$"):
        stored(place)
    assert len(on_disk()) == 2
    refusals = [reason for action, reason in trail() if action == "file.refused"]
    assert refusals == ["number", "size", "desk", "type"]


def test_a_line_takes_what_waits_for_it_and_all_or_nothing(place: Conversation) -> None:
    mine, other = stored(place), stored(factories.conversation(place.agent, "visitor-2"))
    with pytest.raises(NotFound):
        said(place, mine, other)
    assert not place.messages.exists()
    message = said(place, mine)
    assert (message.has_files, message.files.get().public_id) == (True, mine.public_id)
    assert said(place, mine).pk == message.pk, "the same turn again is the same line"
    with pytest.raises(NotFound):
        said(place, mine, text="Once more")
    with pytest.raises(NotFound):
        post_turn(
            place,
            TurnBody(client_id="x", author="agent", text="Mine", files=[stored(place).public_id]),
        )


def test_what_is_not_said_goes_after_a_day_and_what_is_old_goes(
    place: Conversation, settings: Settings
) -> None:
    kept, old, unsaid = stored(place), stored(place), stored(place)
    said(place, kept, old)
    aged(unsaid, hours=25)
    aged(old, days=settings.FILES_DAYS, minutes=1)
    forget_files.enqueue()
    assert [path.name for path in on_disk()] == [kept.stored_as[3:]]
    assert sorted(row.public_id for row in File.objects.all()) == sorted(
        [kept.public_id, old.public_id]
    )
    views = {view["id"]: view["kept"] for view in _views(place)}
    assert views == {kept.public_id: True, old.public_id: False}
    assert trail()[-2:] == [("file.deleted", "pruned")] * 2
    assert not selectors.kept().filter(pk=old.pk).exists()
    assert actions.prune() == 0


def test_a_file_that_is_said_while_the_desk_tidies_up_stays(place: Conversation) -> None:
    """The sweep has seen it unsaid; its line commits before the sweep's UPDATE gets the row."""
    row = stored(place)
    aged(row, hours=25)
    saying, looked = threading.Event(), threading.Event()

    def tidies(execute: Any, sql: str, *rest: Any) -> Any:
        if sql.startswith("UPDATE") and '"deleted_at" = ' in sql:
            looked.set()
            assert saying.wait(10)
        return execute(sql, *rest)

    def prune() -> int:
        try:
            with connection.execute_wrapper(tidies):
                return actions.prune()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with writing():
            message = say(locked(place.pk), author=Author.SUBSCRIBER, text="Here")
            actions.attach(message, [row.public_id], by={Author.SUBSCRIBER})
            pruning = pool.submit(prune)
            looked.wait(1)  # SQLite lets it look when the line is there, and PostgreSQL before
            saying.set()
        assert pruning.result(10) == 0
    assert selectors.kept().get().message == message
    assert len(on_disk()) == 1


def _views(place: Conversation) -> list[dict[str, Any]]:
    page = conversations.messages(place, after=0, limit=10).body()
    return [file for message in page["data"] for file in message.get("files", [])]


def test_a_conversation_that_is_deleted_takes_its_files_along(place: Conversation) -> None:
    said(place, stored(place))
    place.delete()
    actions.prune()
    assert (on_disk(), File.objects.count()) == ([], 0)


def test_a_file_is_deleted_for_who_asks(place: Conversation) -> None:
    row = stored(place)
    said(place, row)
    actions.delete(row, actor="agent:shop")
    assert on_disk() == []
    assert File.objects.get().deleted_at is not None
    assert trail()[-1] == ("file.deleted", "asked")


@pytest.mark.parametrize("step", ["save", "after save", "delete"])
def test_a_process_that_dies_on_the_way_leaves_nothing_for_good(
    place: Conversation, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    class Killed(BaseException):
        pass

    storage = storages["files"]

    def dying(call: Callable[..., Any], *, first: bool) -> Callable[..., Any]:
        def died(*args: Any) -> Any:
            if not first:
                call(*args)
            raise Killed

        return died

    if step == "delete":
        doing: Callable[[], object] = partial(actions.delete, stored(place), actor="agent:shop")
    else:
        doing = partial(stored, place)
    with monkeypatch.context() as patch:
        patch.setattr(storage, "delete", dying(storage.delete, first=True))
        patch.setattr(storage, "save", dying(storage.save, first=step == "save"))
        with pytest.raises(Killed):
            doing()
    assert len(on_disk()) == (step != "save")
    assert not selectors.kept().exists()
    for row in File.objects.all():
        aged(row, hours=2)
    actions.prune()
    actions.prune()
    assert (on_disk(), File.objects.count()) == ([], 0)


def test_a_full_disk_is_told_as_it_is(place: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(storages["files"], "save", full)
    with pytest.raises(DeskUnavailable):
        stored(place)
    with pytest.raises(HandoffError):
        said(place, File.objects.get())


def test_a_sibling_gets_what_was_said_to_it_and_no_other(place: Conversation) -> None:
    other = factories.AgentFactory.create(name="orders")
    before = stored(place)
    said(place, before, text="before")
    for agent, file, found in ((place.agent, before, True), (other, before, False)):
        assert _finds(agent, file) is found
    session = factories.requested(place.agent, factories.sibling_channel(place.agent, other), place)
    during = stored(place)
    said(place, during, text="during")
    assert session.conversation == place
    for agent, file, found in (
        (other, before, False),
        (other, during, True),
        (factories.AgentFactory.create(name="third"), during, False),
    ):
        assert _finds(agent, file) is found


def test_a_sibling_fetches_nothing_once_its_handoff_ended(place: Conversation) -> None:
    other = factories.AgentFactory.create(name="orders")
    session = factories.requested(place.agent, factories.sibling_channel(place.agent, other), place)
    row = stored(place)
    said(place, row)
    assert _finds(other, row)
    cancel(session, reason="", actor="agent:shop")
    assert (_finds(other, row), _finds(place.agent, row)) == (False, True)


def _finds(agent: Agent, file: File) -> bool:
    try:
        selectors.for_agent(agent, file.public_id)
    except HandoffError:
        return False
    return True
