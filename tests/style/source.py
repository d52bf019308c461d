"""The source that the style tests read: every file that is in the repository, or about to be."""

import subprocess
from functools import cache
from pathlib import Path
from typing import Final

from tests.environment import ROOT

PRODUCT: Final = ("audit", "client", "config", "handoff", "returnforms")
BINARY: Final = frozenset({".gif", ".ico", ".jpg", ".mo", ".png", ".webp", ".woff", ".woff2"})
_NOT_OURS: Final = frozenset({".git", ".venv", "data", "node_modules", "__pycache__"})


@cache
def files() -> tuple[Path, ...]:
    """All files, relative to the root. Outside a git clone: all but what tools and runs made."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        found = [Path(name) for name in listed.split("\0") if name]
    else:
        found = [
            path.relative_to(ROOT)
            for path in ROOT.rglob("*")
            if not _NOT_OURS & set(path.relative_to(ROOT).parts)
        ]
    return tuple(sorted(path for path in found if (ROOT / path).is_file()))


def python(*tops: str) -> list[Path]:
    """Python files below the given top-level folders, or everywhere."""
    return [
        path for path in files() if path.suffix == ".py" and (not tops or path.parts[0] in tops)
    ]


def text(path: Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")
