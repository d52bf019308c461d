"""A follower in a process of its own, which a test can stop and let go on by signals."""

import contextlib
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence

from tests import environment
from tests.reliability.followers import Follower, Seen


class StoppedReader(Follower):
    """Its frames, as the process prints them. Not a thread of its own reading any socket."""

    def __init__(self, token: str, conversation: str, ports: Sequence[int]) -> None:
        super().__init__(token, conversation, ports)
        program = [sys.executable, "-m", "tests.reliability.followers", token, conversation]
        self._process = subprocess.Popen(
            [*program, *map(str, ports)],
            cwd=environment.ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            at, number, type_ = line.split()
            self.seen.append(Seen(float(at), int(number), type_))

    def pause(self) -> None:
        """It reads nothing any more, answers no ping and sends nothing."""
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        self._process.kill()
        self._process.wait(10)
        self.join(10)
        assert self._process.stdout is not None
        self._process.stdout.close()


@contextlib.contextmanager
def following(*followers: Follower) -> Iterator[None]:
    """They follow within the block."""
    for follower in followers:
        follower.start()
    try:
        yield
    finally:
        stopping = [threading.Thread(target=follower.stop) for follower in followers]
        for thread in stopping:
            thread.start()
        for thread in stopping:
            thread.join()
