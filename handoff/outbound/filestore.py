"""The storage of files, whichever class it is: what it raises comes out as OSError."""

import contextlib
from collections.abc import Iterator
from typing import IO

from django.core.files import File as Content
from django.core.files.storage import Storage, storages


class StorageFailed(OSError):
    """A storage raised an error of its own kind, which is the cause of this one."""


def save(name: str, content: IO[bytes]) -> str:
    """Store it; returns the name that it has there. Raises OSError."""
    with _storage() as storage:
        return storage.save(name, Content(content))


def opened(name: str) -> IO[bytes]:
    """Its content, to be read block by block; raises FileNotFoundError, or another OSError."""
    with _storage() as storage:
        content: IO[bytes] = storage.open(name)
    return content


def read(name: str) -> bytes:
    """All of it; raises OSError."""
    with _storage() as storage, storage.open(name) as content:
        whole: bytes = content.read()
    return whole


def delete(name: str) -> None:
    """Delete it; one that is not there is as good as deleted. Raises OSError."""
    with _storage() as storage:
        storage.delete(name)


@contextlib.contextmanager
def _storage() -> Iterator[Storage]:
    try:
        yield storages["files"]
    except OSError:
        raise
    except Exception as error:  # the storage seam: S3 and its like have classes of their own
        raise StorageFailed(f"{type(error).__name__}: {error}") from error
