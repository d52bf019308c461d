"""The client as a package: alone, typed, and on every Python that it promises."""

import ast
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

import handoff_client
from tests import environment
from tests.client import environments, interpreters
from tests.client.raw_server import RawServer, Script
from tests.client.test_reading import LOST, TABLE, TOKEN
from tests.style import source

CLIENT: Final = environment.ROOT / "client"
WRAPPERS: Final = {"ag_ui", "langchain", "langgraph", "openai_agents", "pydantic_ai"}
_LOADED: Final = """
import sys
sys.path.insert(0, sys.argv[1])
before = set(sys.modules)
import handoff_client
loaded = {name.partition(".")[0] for name in set(sys.modules) - before} - {"handoff_client"}
print(sorted(loaded - sys.stdlib_module_names))
"""
_READ: Final = """
import json, sys
sys.path.insert(0, sys.argv[1])
from handoff_client import Desk
urls, token = json.load(sys.stdin)
print(json.dumps([Desk(url, token, timeout=5).call("x", {}).text for url in urls]))
"""


def run(python: str, *arguments: str, said: str = "") -> str:
    finished = subprocess.run(
        [python, "-I", *arguments],
        input=said,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@pytest.mark.slow
def test_it_loads_nothing_but_the_standard_library() -> None:
    for python in interpreters.all_of_them().values():
        assert run(python, "-W", "error", "-c", _LOADED, str(CLIENT)).strip() == "[]", python


@pytest.mark.slow
@pytest.mark.parametrize("find", [interpreters.oldest, interpreters.newest])
def test_the_oldest_and_the_newest_python_read_the_table_alike(find: Callable[[], str]) -> None:
    lost = [(script, handoff_client.answers.INCOMPLETE) for script in LOST.values()]
    rows: list[tuple[Script, str]] = [*TABLE.values(), *lost]
    with ExitStack() as stack:
        servers = [stack.enter_context(RawServer(sent)) for sent, _ in rows]
        asked = json.dumps([[server.url for server in servers], TOKEN])
        read = json.loads(run(find(), "-W", "error", "-c", _READ, str(CLIENT), said=asked))
    assert read == [text for _, text in rows]


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(source.text(path))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_only_a_wrapper_imports_what_is_not_in_the_standard_library() -> None:
    modules = source.python("client")
    assert len(modules) > 8
    for path in modules:
        foreign = {name.partition(".")[0] for name in _imports(path)}
        foreign -= sys.stdlib_module_names | {"handoff_client"}
        assert not foreign or path.stem in WRAPPERS, f"{path} imports {foreign}"
        assert not foreign & {"audit", "config", "handoff", "returnforms", "django"}


@pytest.mark.slow
def test_the_wheel_installs_alone_and_pulls_in_nothing(tmp_path: Path) -> None:
    """Built outside the tree, installed without an index into an environment with nothing in it."""
    copied = tmp_path / "client"
    for path in source.files():
        if path.parts[0] == "client":
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_bytes((environment.ROOT / path).read_bytes())
    offline = ["--no-index", "--no-deps", "--disable-pip-version-check", "--quiet"]
    builder = str(environments.python("build"))
    build = ["-m", "pip", "wheel", "--no-build-isolation", *offline, "-w", str(tmp_path)]
    run(builder, *build, str(copied))
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name == f"handoff_client-{handoff_client.__version__}-py3-none-any.whl"

    run(interpreters.oldest(), "-m", "venv", str(tmp_path / "empty"))
    python = str(tmp_path / "empty" / "bin" / "python")
    before = _installed(python)
    with_deps = ["--no-index", "--find-links", str(tmp_path), "--quiet", str(wheel)]
    run(python, "-m", "pip", "install", "--disable-pip-version-check", *with_deps)
    assert _installed(python) - before == {"handoff-client"}
    shown = run(
        python,
        "-c",
        "import importlib.metadata as m, handoff_client as c, pathlib, json;"
        "d = m.distribution('handoff-client');"
        "print(json.dumps([c.__version__, d.version, d.metadata['License-Expression'],"
        "d.requires, (pathlib.Path(c.__file__).parent / 'py.typed').exists()]))",
    )
    version, declared, licence, requires, typed = json.loads(shown)
    assert version == declared == handoff_client.__version__
    assert (licence, typed) == ("MIT", True)
    assert all("extra ==" in requirement for requirement in requires or [])


def _installed(python: str) -> set[str]:
    listed = run(python, "-m", "pip", "list", "--format", "json", "--disable-pip-version-check")
    return {package["name"].replace("_", "-") for package in json.loads(listed)}


def test_what_is_public_is_what_is_named() -> None:
    assert handoff_client.__all__ == ["Answer", "AsyncDesk", "Desk", "Events", "Turn", "Unset"]
    assert (CLIENT / "handoff_client" / "py.typed").exists()
    assert (CLIENT / "LICENSE").read_bytes() == (environment.ROOT / "LICENSE").read_bytes()
