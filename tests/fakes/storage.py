"""A storage that lies on a disk and fails, when it is told to, with errors of its own."""

from pathlib import Path
from typing import IO, Any, ClassVar

from django.core.files.storage import FileSystemStorage
from pytest_django import Settings


class StorageFault(Exception):
    """As a storage service's client has it: no OSError."""


class MoodyStorage(FileSystemStorage):
    fails: ClassVar[set[str]] = set()
    """Of `save`, `half a save`, `open` and `delete`, or a stored name that can't be deleted."""

    def save(self, name: str | None, content: IO[Any], max_length: int | None = None) -> str:
        if "half a save" in self.fails:
            super().save(name, content, max_length)
        if self.fails & {"save", "half a save"}:
            raise StorageFault("SlowDown")
        return super().save(name, content, max_length)

    def open(self, name: str, mode: str = "rb") -> Any:
        if "open" in self.fails:
            raise StorageFault("AccessDenied")
        return super().open(name, mode)

    def delete(self, name: str) -> None:
        if self.fails & {"delete", name}:
            raise StorageFault("AccessDenied")
        super().delete(name)


def use(settings: Settings, folder: Path) -> type[MoodyStorage]:
    """Files lie in `folder` from here on, in a storage of good mood."""
    MoodyStorage.fails = set()
    options = {**settings.STORAGES["files"]["OPTIONS"], "location": folder}
    moody = {"BACKEND": f"{__name__}.MoodyStorage", "OPTIONS": options}
    settings.MEDIA_ROOT = folder
    settings.STORAGES = {**settings.STORAGES, "files": moody}
    return MoodyStorage
