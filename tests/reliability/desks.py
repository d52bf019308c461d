"""Real server processes on one database: one, or several as in a deployment of many processes."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from cryptography.fernet import Fernet

from tests import environment
from tests.config.servers import running
from tests.realtime.desk import Desk

SETTINGS: Final = "tests.reliability.settings"
UNLIMITED: Final = {
    "HANDOFF_CALLS_PER_MINUTE": "0",
    "HANDOFF_FORMS_PER_MINUTE": "0",
    "HANDOFF_HANDOFFS_PER_MINUTE": "0",
    "HANDOFF_LOST_LINKS_PER_MINUTE": "0",
    "HANDOFF_REFUSALS_PER_MINUTE": "0",
    "HANDOFF_TURNS_PER_SECOND": "0",
}
"""For tests that are faster than any caller may be."""


def keys(name: str) -> dict[str, str]:
    """Keys that all processes of one deployment share."""
    return {
        "SECRET_KEY": f"the {name} secret key of a test, and long enough to be one",
        "HANDOFF_ENCRYPTION_KEYS": Fernet.generate_key().decode(),
    }


def seeded(folder: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    """What `tests.realtime.seed` made in an empty database: tokens, a channel, session cookies."""
    made = subprocess.run(
        [sys.executable, "-m", "tests.realtime.seed"],
        cwd=environment.ROOT,
        env=environment.clean_environment(folder) | dict(environ),
        capture_output=True,
        check=True,
        timeout=60,
    )
    found: dict[str, Any] = json.loads(made.stdout)
    return found


@contextlib.contextmanager
def open_desks(
    folder: Path, database_url: str, *names: str, **environ: str
) -> Iterator[list[Desk]]:
    """A server of the product for each name, with limits off unless `environ` says otherwise."""
    shared = {**UNLIMITED, **keys("first"), **environ}
    seed = seeded(folder, {"DATABASE_URL": database_url, **shared})
    with contextlib.ExitStack() as servers:
        yield [
            Desk(
                servers.enter_context(
                    running(folder / name, database_url, settings=SETTINGS, environ=shared)
                ),
                folder,
                seed,
            )
            for name in names
        ]
