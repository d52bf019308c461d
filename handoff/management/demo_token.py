"""Where the demo's bot finds its token: a private file beside the database."""

import json
import os
from pathlib import Path

from django.conf import settings


def read() -> str:
    """The token, or an empty text when there is no readable one."""
    try:
        return str(json.loads(_path().read_text())["token"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def keep(token: str) -> None:
    """Replace the file; only its owner can read it."""
    path = _path()
    part = path.with_suffix(".part")
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump({"token": token}, file)
    part.replace(path)


def _path() -> Path:
    return Path(settings.DATA_DIR) / "demo.json"
