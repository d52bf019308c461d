"""The files that a person sent with what they said.

They are stored before the line is said, and outside its transaction, as an upload is; the event
keeps what became of each, so that whoever tries again stores none a second time.
"""

import io
from typing import Final

import pydantic

from handoff.actions.files import NotStored, Unwanted, drop_unsaid, store
from handoff.actions.writing import writing
from handoff.contract.files import Why
from handoff.contract.kinds import Author
from handoff.errors import TooFast, TooLarge
from handoff.models import Conversation, File, InboundEvent
from handoff.transports.inbound import READER, Enclosed, Said

_CONTENT: Final = '"content":"'


def take(event_pk: int, conversation_pk: int, *, actor: str) -> list[str]:
    """Store the files of an event that waits; the ids of those that are new.

    A file that is refused is refused alone. What two processes store at once is kept once.
    """
    row = InboundEvent.objects.get(pk=event_pk)
    said = READER.validate_json(row.body) if row.body else None
    if not isinstance(said, Said):
        return []
    place = Conversation.objects.select_related("agent").get(pk=conversation_pk)
    ids: list[str] = []
    is_kept = False
    try:
        files = []
        for file in said.files:
            files.append(_taken(place, file, actor) if file.waits else file)
            ids.extend([files[-1].stored] if file.waits and files[-1].stored else [])
        is_kept = _keep(row, said.model_copy(update={"files": tuple(files)}))
    finally:
        if not is_kept:
            drop_unsaid(ids, actor=actor)
    return ids if is_kept else []


def _keep(row: InboundEvent, said: Said) -> bool:
    """False when somebody else was faster."""
    with writing():
        mine = InboundEvent.objects.filter(pk=row.pk, processed_at=None)
        now = mine.select_for_update(no_key=True).values_list("body", flat=True).first()
        return now == row.body and mine.update(body=said.model_dump_json()) == 1


def _taken(place: Conversation, file: Enclosed, actor: str) -> Enclosed:
    done: dict[str, str | Why]
    try:
        stored = store(
            place,
            by=Author.PERSON,
            actor=actor,
            name=file.name,
            content_type=file.declared,
            content=io.BytesIO(file.content),
        )
        done = {"stored": stored.public_id}
    except Unwanted as error:
        done = {"refused": error.why}
    except TooLarge:
        done = {"refused": Why.SIZE}
    except (NotStored, TooFast):
        done = {"refused": Why.STORAGE}
    return file.model_copy(update={"content": b"", **done})


def sayable(said: Said, conversation_pk: int) -> tuple[list[File], list[Enclosed]]:
    """What can be said with a line, in its order, and what was not taken or is not there any more.

    Inside `writing()`, conversation locked.
    """
    waiting = File.objects.filter(
        conversation=conversation_pk,
        public_id__in=[file.stored for file in said.files if file.stored],
        message=None,
        stored_at__isnull=False,
        deleted_at=None,
    )
    by_id = {row.public_id: row for row in waiting} if said.files else {}
    rows = [by_id[file.stored] for file in said.files if file.stored in by_id]
    return rows, [file for file in said.files if file.stored not in by_id]


def without_content(body: str) -> str:
    """A kept event without the content of its files."""
    if _CONTENT not in body:
        return body
    try:
        event = READER.validate_json(body)
    except pydantic.ValidationError:
        return body
    if not isinstance(event, Said):
        return body
    files = tuple(file.model_copy(update={"content": b""}) for file in event.files)
    return event.model_copy(update={"files": files}).model_dump_json()
