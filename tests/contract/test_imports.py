"""The contract is plain Python and pydantic."""

import subprocess
import sys

PROBE = """
import pkgutil, sys, importlib
import handoff.contract
for found in pkgutil.iter_modules(handoff.contract.__path__):
    importlib.import_module(f"handoff.contract.{found.name}")
loaded = {name.partition(".")[0] for name in sys.modules}
print(sorted(loaded & {"channels", "django", "rest_framework"}))
"""


def test_importing_the_contract_loads_no_framework() -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", PROBE], capture_output=True, text=True, check=True, timeout=60
    )
    assert loaded.stdout.strip() == "[]"
