"""The source keeps the house rules."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from tests import environment
from tests.style import rules, source

CATCH_ALL = {
    "config/guard.py": "the outermost door",
    "config/worker.py": "the worker loop",
    "handoff/actions/dispatch.py": "the dispatch",
    "handoff/actions/inbound_apply.py": "the inbound loop",
    "handoff/actions/polls.py": "the mailbox loop",
    "handoff/actions/routes.py": "the route seam",
    "handoff/outbound/filestore.py": "the storage seam",
    "handoff/realtime/door.py": "the outermost door of the waiting routes",
}
"""The modules that catch everything, and as what. Elsewhere a fault is named."""


def modules() -> list[Path]:
    return [path for path in source.python() if "migrations" not in path.parts]


def faults(paths: list[Path], rule: rules.Rule) -> list[str]:
    return [f"{path}:{line}" for path in paths for line in rule(source.text(path))]


def test_no_module_is_too_long() -> None:
    lengths = {str(path): len(source.text(path).splitlines()) for path in modules()}
    for path, lines in lengths.items():
        if rules.LONG < lines <= rules.TOO_LONG:
            with warnings.catch_warnings():
                warnings.simplefilter("default")
                warnings.warn(f"{path} has {lines} lines: split it soon", stacklevel=1)
    assert {path: lines for path, lines in lengths.items() if lines > rules.TOO_LONG} == {}


def test_no_module_is_named_for_nothing() -> None:
    assert [str(path) for path in source.python() if rules.says_nothing(path)] == []


def test_everything_is_caught_only_in_the_listed_places() -> None:
    product = source.python(*source.PRODUCT)
    assert {str(path) for path in product if faults([path], rules.broad_excepts)} == set(CATCH_ALL)


def test_no_text_is_called_safe_unseen() -> None:
    assert faults(source.python(*source.PRODUCT), rules.trusted_markup) == []


def test_no_template_switches_escaping_off() -> None:
    pages = [path for path in source.files() if path.suffix == ".html"]
    assert faults(pages, rules.unescaped) == []


def test_settings_are_read_when_they_are_needed() -> None:
    product = [path for path in modules() if path.parts[0] in ("audit", "handoff", "returnforms")]
    assert faults(product, rules.settings_at_import) == []


def test_only_the_settings_read_the_environment() -> None:
    product = [path for path in modules() if path.parts[0] in ("audit", "handoff", "returnforms")]
    assert faults(product, rules.environment_reads) == []


def test_every_variable_is_explained_in_the_example_and_no_other() -> None:
    read = rules.variables_read(source.text(Path("config/settings.py")))
    assert read == environment.documented()


@pytest.mark.parametrize("lock", [str(path) for path in source.files() if path.suffix == ".lock"])
def test_a_lock_pins_by_hash_and_names_no_address(lock: str) -> None:
    written = source.text(Path(lock))
    assert rules.urls(written) == []
    assert written.count("==") <= written.count("--hash=sha256:")


def test_the_lock_of_the_tests_holds_the_lock_of_the_product() -> None:
    def pins(lock: str) -> set[str]:
        lines = source.text(Path(lock)).splitlines()
        return {line.split()[0] for line in lines if line[:1].isalnum()}

    assert pins("requirements.lock") - pins("tests/requirements.lock") == set()


@pytest.mark.parametrize("script", ["bin/run", "bin/test", ".ci/run"])
def test_a_command_can_be_started(script: str) -> None:
    assert os.access(environment.ROOT / script, os.X_OK)


def test_no_file_names_a_folder_of_the_machine_it_was_written_on() -> None:
    written = [path for path in source.files() if path.suffix not in source.BINARY]
    assert faults(written, rules.machine_paths) == []


def test_the_contract_loads_no_django() -> None:
    """The contract is shared with programs that have none."""
    modules = sorted(
        ".".join(path.with_suffix("").parts)
        for path in source.python("handoff")
        if path.parts[1] == "contract" and path.stem != "__init__"
    )
    program = (
        f"import sys, {', '.join(modules)}\n"
        "print(sorted(m for m in sys.modules if m.split('.')[0] in"
        " {'channels', 'django', 'rest_framework'}))"
    )
    finished = subprocess.run(
        [sys.executable, "-c", program],
        cwd=environment.ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert finished.stdout.strip() == "[]"
