"""Few places for large bodies and answers: they must fill neither memory nor disk."""

from collections.abc import Callable
from typing import Any, Final

from handoff.actions.places import Places

LARGE_BYTES: Final = 2 * 1024 * 1024
"""An answer of more lies in memory until its client has read it: only so many at once, and each
for so long."""
ANSWERS: Final = 16
ANSWERS_OF_ONE: Final = 4
"""Of one address."""
ANSWER_PATIENCES: Final = 5
"""A large answer has to be read within so many times what a request has to arrive in."""
BODIES: Final = 16
_answers: Final = Places()
_bodies: Final = Places()


def for_answer(path: str) -> Callable[[], None] | None:
    """A place for a large answer, or None; call it to give it back."""
    return _answers.take(path, total=ANSWERS, of_one=ANSWERS_OF_ONE)


def for_body() -> Callable[[], None] | None:
    """The same for a body that is too long for any other address: it lies on disk meanwhile."""
    return _bodies.take("", total=BODIES, of_one=BODIES)


def is_large(start: dict[str, Any]) -> bool:
    """Does the message that begins an answer announce a large one?"""
    lengths = [value for name, value in start["headers"] if name.lower() == b"content-length"]
    return any(int(value) > LARGE_BYTES for value in lengths)
