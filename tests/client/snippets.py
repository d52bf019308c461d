"""The snippets of a page of the documentation, run as its reader would run them."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

from tests import environment
from tests.client import environments
from tests.client.shop import Shop
from tests.client.test_wrappers import AGENTS, clean

_BLOCK: Final = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN_SECONDS: Final = 300


def of(page: Path) -> dict[str, tuple[str, str]]:
    """Heading and number -> language and source."""
    found = {}
    for section in page.read_text().split("\n## ")[1:]:
        title = section.partition("\n")[0]
        for number, (language, source) in enumerate(_BLOCK.findall(section), start=1):
            found[f"{title} {number}"] = (language, source)
    return found


def run(desk: Shop, folder: Path, snippet: tuple[str, str], *, lock: str = "frameworks") -> str:
    """What a snippet prints in the environment of a lock."""
    language, source = snippet
    if language == "ts":
        return _output(desk, folder, "node", _compiled(folder / "typescript", source))
    if language == "python":
        return _output(desk, folder, environments.python(lock), "-c", source)
    return _output(desk, folder, "sh", "-euc", source)


def _output(desk: Shop, folder: Path, *command: str | Path) -> str:
    variables = {
        "DESK_URL": desk.url,
        "DESK_TOKEN": desk.token,
        "DESK_CHANNEL": str(desk.channel),
        "PYTHONPATH": os.pathsep.join([str(environment.ROOT / "client"), str(AGENTS)]),
    }
    finished = subprocess.run(
        command,
        cwd=folder,
        env={**clean(), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=RUN_SECONDS,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


def _compiled(folder: Path, source: str) -> Path:
    """The program of a snippet in TypeScript, once the compiler finds nothing wrong with it."""
    packages = environments.node("typescript")
    folder.mkdir()
    (folder / "node_modules").symlink_to(packages / "node_modules")
    (folder / "agent.ts").write_text(source)
    shutil.copy(packages / "package.json", folder)
    shutil.copy(AGENTS / "yours.ts", folder)
    options = ["--strict", "--target", "es2022", "--module", "nodenext", "--skipLibCheck"]
    compiled = subprocess.run(
        ["node", packages / "node_modules" / "typescript" / "bin" / "tsc", *options, "agent.ts"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=RUN_SECONDS,
    )
    assert compiled.returncode == 0, compiled.stdout
    return folder / "agent.js"
