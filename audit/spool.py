"""The emergency spool: what the trail could not take stands in a file, and on the trail later.

One JSON object a line, without a transcript, a value or an address. A line becomes one `audit.gap`
row, whatever kills the process in between: the file is renamed before it is read, its rows carry
its name and their line, and it is removed after they are committed.
"""

import contextlib
import datetime as dt
import errno
import fcntl
import json
import logging
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from django.conf import settings

from audit.models import Event
from audit.trail import record, redact

ACTION: Final = "audit.gap"
FILE: Final = "audit-gaps.jsonl"
CLAIMED: Final = "audit-gaps.*.claimed"
CAP_BYTES: Final = 16 * 1024 * 1024
ROWS: Final = 200
"""How many rows are committed together."""
_TEXTS: Final = ("reason", "failure", "agent", "token", "tool", "session", "attempt")

log = logging.getLogger(__name__)

type Writing = Callable[[], contextlib.AbstractContextManager[None]]


def keep(
    reason: str,
    *,
    failure: str = "",
    agent: str = "",
    token: str = "",
    tool: str = "",
    session: str = "",
    attempt: str = "",
) -> bool:
    """Keep one line, synced to the disk, and say it in the log; False when only the log has it.

    `reason` is a code of ours and `failure` the kind of an error, never its text: that may quote a
    row. `agent` is named only when its token was verified. Never raises.
    """
    told = {
        "at": dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds"),
        "reason": reason,
        "failure": failure,
        "agent": agent,
        "token": token,
        "tool": tool[:64],
        "session": session,
        "attempt": attempt,
    }
    line = json.dumps({name: text for name, text in told.items() if text})
    log.error("not on the audit trail: %s", line)
    try:
        _append(line.encode())
    except OSError as problem:
        log.error("not in the spool either: %s", problem.strerror)
        return False
    return True


def settle(writing: Writing) -> int:
    """Put kept lines on the trail, each once; how many. `writing` is the transaction of a batch.

    Raises the database's errors, and then the rest is kept. A file that cannot be read is told
    in the log.
    """
    rows = 0
    try:
        for left in sorted(_folder().glob(CLAIMED)):
            rows += _put_on_trail(left, writing)
        claimed = _claim()
        if claimed is not None:
            rows += _put_on_trail(claimed, writing)
    except OSError as problem:
        log.error("the spool of the audit trail: %s", problem)
    return rows


def _folder() -> Path:
    folder: Path = settings.DATA_DIR
    return folder


def _append(line: bytes) -> None:
    # A newline before it, too: after a write that was cut short it stands on a line of its own.
    whole = b"\n" + line + b"\n"
    with _locked(_folder() / FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT) as file:
        size = os.fstat(file).st_size
        if size + _claimed_bytes() + len(whole) > CAP_BYTES:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        if os.write(file, whole) < len(whole):
            os.ftruncate(file, size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(file)


def _claimed_bytes() -> int:
    total = 0
    for path in _folder().glob(CLAIMED):
        with contextlib.suppress(FileNotFoundError):
            total += path.stat().st_size
    return total


def _claim() -> Path | None:
    """Take the file away from those who append; None when there is none."""
    path = _folder() / FILE
    claimed = path.with_name(CLAIMED.replace("*", secrets.token_hex(8)))
    try:
        with _locked(path, os.O_RDONLY):
            path.rename(claimed)
        # on the disk before any row: a file that is back under its old name would be read again
        with _opened_folder() as folder:
            os.fsync(folder)
    except FileNotFoundError:
        return None
    return claimed


@contextlib.contextmanager
def _opened_folder() -> Iterator[int]:
    folder = os.open(_folder(), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield folder
    finally:
        os.close(folder)


@contextlib.contextmanager
def _locked(path: Path, flags: int, *, wait: bool = True) -> Iterator[int]:
    """The file of that name, open and locked against other threads and processes.

    Raises FileNotFoundError, and BlockingIOError when it is locked and not to be waited for.
    """
    file = _open_locked(path, flags, wait=wait)
    try:
        yield file
    finally:
        os.close(file)


def _open_locked(path: Path, flags: int, *, wait: bool) -> int:
    while True:
        file = os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError:
            os.close(file)
            raise
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file), path.stat()):
                return file
        os.close(file)  # while we waited it was renamed


def _put_on_trail(claimed: Path, writing: Writing) -> int:
    rows = 0
    try:
        with _locked(claimed, os.O_RDONLY, wait=False) as file:
            with open(os.dup(file), "rb") as opened:
                text = opened.read()
            name = claimed.name.split(".")[1]
            for batch in _batches(enumerate(text.split(b"\n")), name):
                with writing():
                    for number, line in batch:
                        _write(name, number, line)
                rows += len(batch)
            claimed.unlink()
    except (BlockingIOError, FileNotFoundError):
        log.info("another process puts %s on the trail", claimed.name)
    return rows


def _batches(lines: Iterable[tuple[int, bytes]], name: str) -> Iterator[list[tuple[int, bytes]]]:
    """The lines that are not on the trail yet, some at a time."""
    rows = Event.objects.filter(action=ACTION, details__spool=name)
    done = set(rows.values_list("details__line", flat=True))
    left = [(number, line) for number, line in lines if line.strip() and number not in done]
    for start in range(0, len(left), ROWS):
        yield left[start : start + ROWS]


def _write(spool: str, number: int, line: bytes) -> None:
    told = _read(line)
    reason, failure, agent, token, tool, session, attempt = (
        redact(str(told.get(name, ""))) for name in _TEXTS
    )
    record(
        ACTION,
        actor=f"agent:{agent}" if agent else "",
        reason=reason,
        failure=failure,
        agent=agent,
        token=token,
        tool=tool,
        session=session,
        attempt=attempt,
        details={"happened_at": str(told.get("at", "")), "spool": spool, "line": number},
    )


def _read(line: bytes) -> dict[str, Any]:
    """One line; of a broken one only that it was there."""
    try:
        told = json.loads(line)
    except ValueError:
        told = None
    return told if isinstance(told, dict) else {"reason": "unreadable"}
