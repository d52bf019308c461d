"""Lines of a conversation: whose turn it is, and the notes that the agent has to read."""

import dataclasses
import threading
from collections.abc import Sequence
from typing import Any

from handoff_client import answers
from handoff_client.answers import Answer, Received


@dataclasses.dataclass(frozen=True)
class Turn:
    """What posting a line came back with: `{message, bypass, handoff, context}`.

    `refusal` is set, and everything else empty, when the line may not have been stored.
    """

    result: dict[str, Any]
    refusal: Answer | None = None

    @property
    def bypass(self) -> bool:
        """Does the subscriber talk with a person now? Then the agent says nothing."""
        return self.result.get("bypass") is True

    @property
    def superseded(self) -> bool:
        """Was this line of the agent refused, because a person has the conversation?"""
        return self.result.get("code") == "superseded"

    @property
    def notes(self) -> list[dict[str, Any]]:
        """The resume notes and late returns that are not acknowledged yet, oldest first.

        Each has `text` for the model and typed `values` for the program.
        """
        context = self.result.get("context")
        found = context if isinstance(context, list) else []
        return [note for note in found if isinstance(note, dict)]


class Heard:
    """The newest note that this process saw in each conversation, until it is acknowledged."""

    def __init__(self) -> None:
        self._newest: dict[str, int] = {}
        self._lock = threading.Lock()

    def newest(self, conversation: str) -> int | None:
        with self._lock:
            return self._newest.get(conversation)

    def note(
        self, conversation: str, notes: Sequence[dict[str, Any]], acknowledged: int | None
    ) -> None:
        numbers = [note["event_id"] for note in notes if isinstance(note.get("event_id"), int)]
        with self._lock:
            if numbers:
                self._newest[conversation] = max(numbers)
            elif self._newest.get(conversation) == acknowledged:
                self._newest.pop(conversation, None)


def read(found: Received | Answer | None) -> Turn:
    answer = object_with(found, "message")
    return Turn({}, refusal=answer) if answer.is_error else Turn(answer.result)


def made_conversation(found: Received | Answer | None) -> Answer:
    answer = object_with(found, "id")
    if answer.is_error or isinstance(answer.result["id"], str):
        return answer
    return answers.failure(answers.UNREADABLE, "unreadable")


def object_with(found: Received | Answer | None, member: str) -> Answer:
    """A REST answer that holds the member, or the words for whatever came instead."""
    if isinstance(found, Answer):
        return found
    if found is None or not found.is_success:
        return answers.read(found)
    body = answers.json_object(found.body)
    if body is None or member not in body:
        return answers.failure(answers.UNREADABLE, "unreadable", {"status": found.status})
    return Answer("Done.", False, body)
