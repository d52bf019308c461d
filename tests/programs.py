"""PostgreSQL, Redis and Chromium for the tests.

Each is looked for in this order: the environment variable, the local default port, the
distribution's own programs started in a temporary folder; PostgreSQL's own programs come before
the local port. `Absent` says how to get it.
Programs that refuse to run as root are started as the user `postgres` or `nobody`.
"""

import getpass
import glob
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

import psycopg
import redis

START_SECONDS: Final = 30.0
POSTGRES_ABSENT: Final = (
    "PostgreSQL was not found: install it (Debian: postgresql) or set "
    "TEST_DATABASE_URL=postgres://user:password@host/database."
)
DEBIAN: Final = "/usr/lib/postgresql/*/bin/initdb"
_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Absent(Exception):
    """The service is not to be had here; the text is one sentence that says what to do."""


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def postgres() -> Iterator[str]:
    """The URL of a PostgreSQL server on which we may create databases.

    One of our own writes nothing through to the disk, which no test of a database asks for: there
    a commit takes a twentieth of the time, and dropping a database as well.
    """
    if named := os.environ.get("TEST_DATABASE_URL"):
        if not _may_create_databases(named):
            raise Absent(
                "TEST_DATABASE_URL names no PostgreSQL server that lets us create databases."
            )
        yield named
        return
    if _postgres_programs() is not None:
        with own_postgres() as url:
            yield url
        return
    for user in dict.fromkeys(("postgres", getpass.getuser())):
        local = f"postgres://{user}@127.0.0.1:5432/postgres"
        if _may_create_databases(local):
            yield local
            return
    raise Absent(POSTGRES_ABSENT)


def _may_create_databases(url: str) -> bool:
    try:
        with psycopg.connect(url, connect_timeout=3) as connection:
            row = connection.execute(
                "SELECT rolsuper OR rolcreatedb FROM pg_roles WHERE rolname = current_user"
            ).fetchone()
    except psycopg.OperationalError:
        return False
    return bool(row and row[0])


class Cluster:
    """A PostgreSQL server of our own, which a test may stop, start and freeze."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._folder = folder
        self._control: list[str | Path] = [programs / "pg_ctl", "-D", folder / "data", "-w"]
        self._port, password = free_port(), secrets.token_hex(16)
        password_file = folder / "password"
        password_file.write_text(password)
        _hand_over(password_file)
        who: list[str | Path] = ["-U", "postgres", "-A", "scram-sha-256", "--pwfile", password_file]
        how = ["-E", "UTF8", "--locale", "C.UTF-8", "--no-sync"]
        _run([programs / "initdb", "-D", folder / "data", *who, *how], folder)
        self.url = f"postgres://postgres:{password}@127.0.0.1:{self._port}/postgres"

    def start(self) -> None:
        options = (
            f"-p {self._port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= "
            "-c fsync=off -c max_connections=200"
        )
        log = self._folder / "log"
        _run([*self._control, "-l", log, "-o", options, "start"], self._folder)

    def stop(self) -> None:
        """At once, as a crash: what was not committed is lost."""
        _run([*self._control, "-m", "immediate", "stop"], self._folder)

    def freeze(self) -> None:
        """Every process of it stands still; connections stay open and new ones are taken."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        main = int((self._folder / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(main, number)  # first: it starts no further process
        for child in Path(f"/proc/{main}/task/{main}/children").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(child), number)


@contextmanager
def own_cluster() -> Iterator[Cluster]:
    """A started PostgreSQL server of our own, stopped and removed at the end."""
    programs = _postgres_programs()
    if programs is None:
        raise Absent(POSTGRES_ABSENT)
    with _private_folder("handoff-pg-") as folder:
        cluster = Cluster(programs, folder)
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.thaw()
            cluster.stop()


@contextmanager
def own_postgres() -> Iterator[str]:
    """The URL of a PostgreSQL server of our own, stopped and removed at the end."""
    with own_cluster() as cluster:
        yield cluster.url


def _postgres_programs() -> Path | None:
    """The folder that holds initdb and pg_ctl: Debian's newest, else the one on the PATH."""
    found = glob.glob(DEBIAN)
    if found:
        return max((Path(path).parent for path in found), key=lambda path: _version(path.parent))
    on_path = shutil.which("initdb")
    return Path(on_path).resolve().parent if on_path else None


def _version(folder: Path) -> float:
    try:
        return float(folder.name)
    except ValueError:
        return 0.0


@contextmanager
def redis_server() -> Iterator[str]:
    """The URL of a Redis server."""
    if named := os.environ.get("TEST_REDIS_URL"):
        if not _answers(named):
            raise Absent("TEST_REDIS_URL names no Redis server that answers.")
        yield named
        return
    local = "redis://127.0.0.1:6379/0"
    if _answers(local):
        yield local
        return
    with own_redis() as url:
        yield url


def _answers(url: str) -> bool:
    try:
        with redis.Redis.from_url(url, socket_connect_timeout=2, socket_timeout=2) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False


@contextmanager
def own_redis() -> Iterator[str]:
    """The URL of a Redis server of our own, stopped at the end; it keeps nothing on disk."""
    program = shutil.which("redis-server")
    if program is None:
        raise Absent(
            "Redis was not found: install it (Debian: redis-server) or set "
            "TEST_REDIS_URL=redis://host:6379/0."
        )
    with _private_folder("handoff-redis-") as folder, ExitStack() as stack:
        port = free_port()
        user, group = _unprivileged()
        log = stack.enter_context((folder / "log").open("wb"))
        where = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
        process = subprocess.Popen(
            [program, *where, "--save", "", "--appendonly", "no"],
            stdout=log,
            stderr=log,
            user=user,
            group=group,
        )
        url = f"redis://127.0.0.1:{port}/0"
        try:
            deadline = time.monotonic() + START_SECONDS
            while not _answers(url):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise Absent("redis-server did not start: " + (folder / "log").read_text())
                time.sleep(0.05)
            yield url
        finally:
            process.terminate()
            process.wait(timeout=START_SECONDS)


def chromium() -> str:
    """The path of a Chromium: the variable CHROMIUM, else the distribution's."""
    named = os.environ.get("CHROMIUM")
    for name in [named] if named else ["chromium", "chromium-browser", "google-chrome"]:
        if found := shutil.which(name):
            return found
    raise Absent(
        "Chromium was not found: install it (Debian: chromium) or set CHROMIUM to its path."
    )


def _unprivileged() -> tuple[int, int] | tuple[None, None]:
    """User and group of a server that refuses root; None when we are not root."""
    if os.geteuid() != 0:
        return None, None
    users = {user.pw_name: user for user in pwd.getpwall()}
    user = users.get("postgres") or users["nobody"]
    return user.pw_uid, user.pw_gid


def _hand_over(path: Path) -> None:
    user, group = _unprivileged()
    if user is not None and group is not None:
        os.chown(path, user, group)


@contextmanager
def _private_folder(prefix: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        _hand_over(folder)
        yield folder


def _run(command: Sequence[str | Path], folder: Path) -> None:
    """Run one of PostgreSQL's programs; `Absent` with what it wrote when it fails.

    The server keeps the output of pg_ctl open, so it goes to a file and not to a pipe.
    """
    output = folder / "output"
    user, group = _unprivileged()
    with output.open("wb") as written:
        finished = subprocess.run(
            [str(part) for part in command],
            cwd=folder,
            env={"PATH": _PATH, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=subprocess.STDOUT,
            timeout=2 * START_SECONDS,
            check=False,
            user=user,
            group=group,
        )
    if finished.returncode:
        raise Absent(f"{Path(command[0]).name} failed: {output.read_text()}")
