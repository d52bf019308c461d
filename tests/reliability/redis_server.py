"""A Redis server of a test's own on a spare port, to be killed and started again."""

import subprocess
import time
from pathlib import Path

import redis

from tests import programs


class OwnRedis:
    """Keeps nothing: after a kill it starts empty, at the same address."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = programs.free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._port}/0"

    def start(self) -> None:
        """Returns when it answers."""
        command = ["redis-server", "--port", str(self._port), "--bind", "127.0.0.1"]
        self._process = subprocess.Popen(
            [*command, "--save", "", "--appendonly", "no", "--dir", str(self._folder)],
            stdout=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + programs.START_SECONDS
        while not self._answers():
            assert time.monotonic() < deadline, "redis-server did not start"
            time.sleep(0.05)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)

    def _answers(self) -> bool:
        try:
            with redis.Redis.from_url(self.url, socket_timeout=1) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False
