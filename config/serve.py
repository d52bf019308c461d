"""The server process: `python -m config.serve --host H --port P`.

One process holds web, sockets and the background worker. It says nothing but errors and its log,
exits 0 after a drain, 1 when it could not start or had to leave a thread behind.
"""

import argparse
import os
import resource
import sys
from collections.abc import Sequence

import django
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from config import preflight

OPEN_FILES = 65_536


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(prog="config.serve", description="Serve the desk.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on")
    options = parser.parse_args(arguments)

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    raise_file_limit()
    try:
        django.setup(set_prefix=False)
    except ImproperlyConfigured as problem:
        return refuse([str(problem)])
    if problems := preflight.problems():
        return refuse(problems)
    # by name: what it imports needs the set-up above
    failure = import_string("config.process.run")(options.host, options.port)
    return refuse([failure]) if failure else 0


def raise_file_limit() -> None:
    """Room for waiting clients: the usual soft limit of 1,024 files is too low."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def refuse(sentences: Sequence[str]) -> int:
    for sentence in sentences:
        sys.stderr.write(f"The desk does not start. {sentence}\n")
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
