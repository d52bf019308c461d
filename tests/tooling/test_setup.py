"""bin/setup.sh in every POSIX shell we have: which Python it takes, and when it installs."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.environment import ROOT

SHELLS = [shell for shell in ("sh", "dash", "bash") if shutil.which(shell)]
TOO_OLD = "#!/bin/sh\nexit 1\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with the script, and a lock that asks for nothing."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "tests").mkdir()
    shutil.copy(ROOT / "bin/setup.sh", tmp_path / "bin")
    (tmp_path / "requirements.lock").write_text("# nothing\n")
    (tmp_path / "tests/requirements.lock").write_text("# nothing but tests\n")
    return tmp_path


def run(
    project: Path, script: str, *, shell: str = "sh", path: Sequence[Path] = (), **variables: str
) -> subprocess.CompletedProcess[str]:
    own = ":".join([*map(str, path), "/usr/bin", "/bin"])
    return subprocess.run(
        [shutil.which(shell) or shell, "-euc", f". bin/setup.sh; {script}"],
        cwd=project,
        env={"PATH": own, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def interpreter(folder: Path, name: str, *, suits: bool) -> Path:
    """A Python of that name in that folder: ours, or one that is too old."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    if suits:
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    else:
        program.write_text(TOO_OLD)
    program.chmod(0o755)
    return program


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A folder whose Pythons are all too old; it hides those of the machine."""
    folder = tmp_path / "old"
    for name in ("python3", "python3.14", "python3.13", "python3.12"):
        interpreter(folder, name, suits=False)
    return folder


@pytest.mark.parametrize("shell", SHELLS)
def test_the_named_python_is_taken_first(shell: str, project: Path, old: Path) -> None:
    named = interpreter(project / "own", "python-of-mine", suits=True)
    found = run(project, "find_python", shell=shell, path=[old], PYTHON=str(named))
    assert found.stdout.strip() == str(named)


@pytest.mark.parametrize("name", ["python3", "python3.14", "python3.13", "python3.12"])
def test_a_python_on_the_path_is_taken_by_any_of_its_names(
    name: str, project: Path, old: Path
) -> None:
    interpreter(project / "new", name, suits=True)
    found = run(project, "find_python", path=[project / "new", old])
    assert found.stdout.strip() == name


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("variable", ["PYENV_ROOT", "HOME"])
def test_a_python_of_pyenv_is_found(shell: str, variable: str, project: Path, old: Path) -> None:
    place = project / "a place"
    root = place if variable == "PYENV_ROOT" else place / ".pyenv"
    interpreter(root / "versions/3.9.18/bin", "python", suits=False)
    wanted = interpreter(root / "versions/3.12.1/bin", "python", suits=True)
    found = run(project, "find_python", shell=shell, path=[old], **{variable: str(place)})
    assert found.stdout.strip() == str(wanted)


@pytest.mark.parametrize("shell", SHELLS)
def test_without_a_python_one_sentence_says_what_to_do(
    shell: str, project: Path, old: Path
) -> None:
    refused = run(project, "install requirements.lock", shell=shell, path=[old])
    assert refused.returncode == 1
    assert refused.stdout == ""
    (sentence,) = refused.stderr.splitlines()
    assert "no Python 3.12 or newer was found" in sentence
    assert "PYTHON=/path/to/python3" in sentence
    assert not (project / ".venv").exists()


@pytest.mark.slow
def test_a_lock_is_installed_once_and_again_when_it_changed(project: Path) -> None:
    def install(lock: str) -> str:
        finished = run(project, f"install {lock}", PYTHON=sys.executable)
        assert finished.returncode == 0, finished.stderr
        return finished.stdout

    assert "Installing" in install("requirements.lock")
    assert install("requirements.lock") == ""
    assert "Installing" in install("tests/requirements.lock")
    assert install("requirements.lock") == "", "the lock of the tests holds the other"
    (project / "requirements.lock").write_text("# nothing new\n")
    assert "Installing" in install("requirements.lock")
    assert "Installing" in install("tests/requirements.lock"), "it may have been changed back"
    shutil.rmtree(project / ".venv/bin")
    assert "Installing" in install("requirements.lock"), "the environment was broken"


@pytest.mark.slow
def test_an_install_that_failed_is_tried_again(project: Path) -> None:
    lock = project / "requirements.lock"
    lock.write_text("this is no lock\n")
    for _ in range(2):
        refused = run(project, "install requirements.lock", PYTHON=sys.executable)
        assert refused.returncode == 1
        assert "could not be installed; pip's message above says why" in refused.stderr
    lock.write_text("# nothing\n")
    assert run(project, "install requirements.lock", PYTHON=sys.executable).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--port", "x"], "--port must be a number from 1 to 65535"),
        (["--port=70000"], "--port must be a number from 1 to 65535"),
        (["--port", "0"], "--port must be a number from 1 to 65535"),
        (["--port"], "--port needs a value"),
        (["--data="], "--data needs a value"),
        (["--daemon"], "unknown option --daemon"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_is_done(
    arguments: list[str], words: str, tmp_path: Path
) -> None:
    refused = subprocess.run(
        [ROOT / "bin/run", *arguments],
        cwd=tmp_path,
        env={**os.environ, "HANDOFF_DATA": str(tmp_path / "data")},
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
    )
    assert refused.returncode == 2
    assert refused.stderr.startswith(f"run: {words}\n")
    assert "Usage: bin/run" in refused.stderr
    assert not (tmp_path / "data").exists()
