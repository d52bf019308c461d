"""What a recipient got: the mails of the SMTP fake, by handoff and in order."""

import collections
import dataclasses
import re
import threading
import time
from typing import Final

from tests.fakes.smtp import Received, SmtpServer

_ID: Final = re.compile(
    rb"^Message-ID:\s*<h\.(hs_[a-z2-7]+)\.(\d+)\.[a-z2-7]{16}@", re.MULTILINE | re.IGNORECASE
)
_TOKEN: Final = re.compile(r"/r/([^/\s]+)/")
MARK: Final = re.compile(rb"mark[0-9a-f]{16}")
"""A word that a test puts into a text, to find it again in what somebody got."""
OUTBOX: Final = 1000
"""Lines and notices carry numbers from here on, attempts lower ones."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mail:
    session: str
    number: int
    marks: tuple[str, ...]
    """The marks in it, in order."""
    received: Received

    @property
    def mark(self) -> str:
        """The first one."""
        return self.marks[0] if self.marks else ""

    @property
    def is_request(self) -> bool:
        return self.number < OUTBOX

    @property
    def token(self) -> str:
        """Of its return link."""
        found = _TOKEN.search(self.received.text)
        assert found is not None, "a mail without a return link"
        return found[1]


class Mails:
    """All that came so far; safe to ask from any thread."""

    def __init__(self, smtp: SmtpServer) -> None:
        self._smtp = smtp
        self._lock = threading.Lock()
        self._read = 0
        self._by_session: collections.defaultdict[str, list[Mail]] = collections.defaultdict(list)

    def of(self, session: str) -> list[Mail]:
        self._catch_up()
        return list(self._by_session.get(session, ()))

    def all(self) -> list[Mail]:
        self._catch_up()
        with self._lock:
            return [mail for mails in self._by_session.values() for mail in mails]

    def token(self, session: str) -> str | None:
        """Of the return link that the recipient got; None when nothing came."""
        requests = [mail for mail in self.of(session) if mail.is_request]
        return requests[0].token if requests else None

    def wait_for_mark(self, session: str, mark: str, *, seconds: float) -> bool:
        """Whether a line with this mark came, waiting for it at most so long."""
        until = time.monotonic() + seconds
        while not any(mark in mail.marks and not mail.is_request for mail in self.of(session)):
            if time.monotonic() > until:
                return False
            time.sleep(0.02)
        return True

    def _catch_up(self) -> None:
        with self._lock:
            received = self._smtp.messages
            for one in received[self._read :]:
                found = _ID.search(one.content)
                assert found is not None, "a mail without an id of ours"
                session = found[1].decode()
                self._by_session[session].append(
                    Mail(
                        session=session,
                        number=int(found[2]),
                        marks=tuple(
                            dict.fromkeys(found.decode() for found in MARK.findall(one.content))
                        ),
                        received=one,
                    )
                )
            self._read = len(received)
