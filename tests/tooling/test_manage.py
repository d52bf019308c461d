"""`manage.py` as somebody types it: from any Python, on any data folder."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests import environment

pytestmark = pytest.mark.slow


BASE_PYTHON: Final = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"


def manage(*arguments: str, data: Path, python: str = sys.executable) -> tuple[int, str]:
    """Exit code and everything that was said."""
    found = subprocess.run(
        [python, "manage.py", *arguments],
        cwd=environment.ROOT,
        env=environment.clean_environment(data),
        capture_output=True,
        text=True,
        timeout=60,
    )
    return found.returncode, found.stdout + found.stderr


def test_without_tables_it_says_what_to_do(tmp_path: Path) -> None:
    code, said = manage("new_agent", "shop", data=tmp_path)
    assert code == 1
    assert said.startswith("The database has no tables yet. bin/run makes them, or: HANDOFF_DATA=")
    assert "Traceback" not in said
    for file in tmp_path.iterdir():
        assert file.stat().st_mode & 0o077 == 0, file


def test_a_python_without_our_packages_starts_the_one_that_has_them(tmp_path: Path) -> None:
    code, said = manage("version", data=tmp_path, python=str(BASE_PYTHON))
    assert (code, said.count(".")) == (0, 2)


def test_the_demos_folder_is_a_demo_for_every_command(tmp_path: Path) -> None:
    show = ("shell", "-v", "0", "-c", "from django.conf import settings; print(settings.DEMO)")
    assert manage(*show, data=tmp_path)[1] == "False\n"
    (tmp_path / "demo.json").write_text("{}")
    assert manage(*show, data=tmp_path)[1] == "True\n"
