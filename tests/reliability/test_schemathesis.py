"""Row 10: schemathesis against our own OpenAPI document, on a real server."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.realtime.desk import Desk
from tests.reliability.desks import open_desks
from tests.reliability.figures import report
from tests.reliability.sizes import sizes

NO_WAITING = {"HANDOFF_MAX_WAITERS": "0"}
"""Every poll and stream answers at once with what there is."""
KNOWN = """
[[operations]]
include-path-regex = "/conversations/"
parameters = {{ "path.public_id" = "{conversation}" }}

[[operations]]
include-path-regex = "/handoffs/"
parameters = {{ "path.public_id" = "{session}" }}

# what bytes are is not in a schema: tests/files
[[operations]]
include-path-regex = "/files$"
checks.positive_data_acceptance.enabled = false

# nor is where an address leads, or which events there are: tests/webhooks
[[operations]]
include-path-regex = "/webhooks"
checks.positive_data_acceptance.expected-statuses = ["2xx", "400", "404", "409", "429"]

[[operations]]
include-path-regex = "/webhooks/"
parameters = {{ "path.public_id" = "{webhook}" }}
"""


@pytest.mark.once
@sizes(quick=5, full=400)
def test_schemathesis_finds_nothing(size: int, tmp_path: Path, database_url: str) -> None:
    """`size` examples for each operation and phase, beside those that cover the document."""
    with open_desks(tmp_path, database_url, "one", **NO_WAITING) as [desk]:
        talk = desk.conversation()
        config = tmp_path / "schemathesis.toml"
        session, webhook = desk.hand_over(talk), _webhook(desk)
        config.write_text(KNOWN.format(conversation=talk, session=session, webhook=webhook))
        finished = subprocess.run(
            [
                str(Path(sys.executable).with_name("schemathesis")),
                f"--config-file={config}",
                "run",
                f"http://127.0.0.1:{desk.server.port}/api/v1/openapi.json",
                "--header",
                f"Authorization: Bearer {desk.token}",
                "--checks=all",
                # A call that the desk understands and refuses is a 200 with a sentence; what is
                # refused is in tests/api.
                "--exclude-checks=negative_data_rejection",
                f"--max-examples={size}",
                "--generation-deterministic",
                "--generation-allow-x00=false",  # NUL is refused in any text; our own fuzz sends it
                "--continue-on-failure",
                "--no-color",
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=1800,
            check=False,
        )
        assert finished.returncode == 0, finished.stdout
        assert "Traceback" not in desk.server.log()
    found = re.search(r"(\d+) generated", finished.stdout)
    tested = re.search(r"Tested: (\d+)", finished.stdout)
    assert found, finished.stdout
    assert tested, finished.stdout
    report(10, f"schemathesis: {found[1]} cases for {tested[1]} operations, no finding")


def _webhook(desk: Desk) -> str:
    status, made = desk.call("POST", "/api/v1/webhooks", {"url": "http://127.0.0.1:9/"})
    assert status == 201, made
    return str(made["id"])
