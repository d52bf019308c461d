"""The environment of a test process: nothing of the developer's own, everything in one new folder.

`prepare()` has to run before Django reads its settings; `tests/conftest.py` calls it first.
`HANDOFF_TEST_DATABASE` says which half runs: `sqlite` (as when unset) or `postgres`, which takes
the server that `TEST_DATABASE_URL` names or that `tests/programs.py` finds.
"""

import atexit
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

ROOT: Final = Path(__file__).resolve().parent.parent
PUBLIC_BASE_URL: Final = "http://desk.example.org"

_VARIABLE: Final = re.compile(r"^#? ?([A-Z][A-Z0-9_]*)=", re.MULTILINE)


def documented() -> frozenset[str]:
    """The names of the variables in .env.example, set or commented out."""
    return frozenset(_VARIABLE.findall((ROOT / ".env.example").read_text()))


def on_postgres() -> bool:
    """Does this process run the PostgreSQL half?"""
    return os.environ.get("HANDOFF_TEST_DATABASE", "sqlite") == "postgres"


def clean_environment(data: Path) -> dict[str, str]:
    """A copy of the environment for a process of ours: no setting of the developer's, state in
    `data`. What a test needs beside that it adds.
    """
    inherited = {name: text for name, text in os.environ.items() if name not in documented()}
    return inherited | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "HANDOFF_DATA": str(data),
        "HANDOFF_ENV_FILE": os.devnull,
        "HANDOFF_PRIVATE_TARGETS": "127.0.0.0/8,::1",  # where the fakes listen
        "LANGUAGES": "en,de,fr,es,pt-br,ar,ja",
        "PUBLIC_BASE_URL": PUBLIC_BASE_URL,
    }


def with_database(url: str, name: str) -> str:
    """The same server as `url`, another database."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


def prepare(postgres_url: str | None) -> None:
    """Make a data folder for this process and put its settings into `os.environ`."""
    data = Path(tempfile.mkdtemp(prefix="handoff-test-"))
    prepared = clean_environment(data)
    prepared["HANDOFF_DATABASE_SECONDS"] = "0"  # a test may hold its transaction as long as it runs
    if postgres_url is not None:
        prepared["DATABASE_URL"] = postgres_url
    os.environ.clear()
    os.environ.update(prepared)
    atexit.register(discard, data, os.getpid())


def discard(data: Path, maker: int) -> None:
    """Remove a data folder, unless this process only descends from the one that made it."""
    if os.getpid() == maker:
        shutil.rmtree(data, ignore_errors=True)
