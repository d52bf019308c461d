"""The addresses that take a file: their bodies may be longer, and stay on disk."""

import dataclasses
import io
import re
from typing import IO, Final

from handoff.contract.files import BLOCK, BODY_BYTES

KEPT: Final = "handoff.body"
"""The key of a scope under which the server leaves a body in its temporary file."""
_PATHS: Final = re.compile(
    r"/files/|/api/v1/(?:conversations|inbox)/[^/]{1,60}/files|/inbox/h/[^/]{1,60}/reply/"
)


def takes(path: str) -> bool:
    """Does this address take files?"""
    return _PATHS.fullmatch(path) is not None


def cap(path: str, usual: int) -> int:
    """The most bytes of a body at an address."""
    return max(usual, BODY_BYTES) if takes(path) else usual


@dataclasses.dataclass(frozen=True)
class Body:
    """The whole body of a request, to be read once from its beginning."""

    file: IO[bytes]
    size: int
    in_memory: bool

    @classmethod
    def of(cls, content: bytes) -> "Body":
        return cls(io.BytesIO(content), len(content), in_memory=True)

    @classmethod
    def kept(cls, file: IO[bytes]) -> "Body":
        size = file.seek(0, io.SEEK_END)
        file.seek(0)
        return cls(file, size, in_memory=False)

    def small(self) -> bytes:
        """All of it where it is in memory, else nothing."""
        self.file.seek(0)
        return self.file.read() if self.in_memory else b""

    def block(self) -> tuple[bytes, bool]:
        """The next part, and whether there is more; what is in memory comes at once."""
        part = self.file.read(-1 if self.in_memory else BLOCK)
        return part, self.file.tell() < self.size
