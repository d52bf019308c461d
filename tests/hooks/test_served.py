"""Webhooks on a real server: nothing before the door takes them for something else."""

import http.client
import json
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests import environment
from tests.config.servers import Server, running
from tests.fakes import toy_chat, whatsapp
from tests.fakes.providers import Delivery
from tests.reliability.rows import Rows
from tests.transports.whatsapp_samples import SETTINGS as WHATSAPP

MIB = 1024 * 1024


def call(server: Server, path: str, delivery: Delivery) -> tuple[int, http.client.HTTPMessage]:
    with closing(server.connection(30)) as connection:
        headers = {"Content-Type": "application/json", **delivery.headers}
        connection.request("POST", path, delivery.body, headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status, answer.headers


def until(rows: Rows, statement: str, count: int) -> None:
    end = time.monotonic() + 15
    while rows.count(statement) != count:
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.mark.slow
def test_a_served_webhook_takes_large_bodies_and_is_applied_by_the_worker(
    tmp_path: Path, database_url: str
) -> None:
    folder = tmp_path / "desk"
    folder.mkdir()
    environ = {"DATABASE_URL": database_url, "HANDOFF_TRANSPORTS": "toy=tests.fakes.toy.Toy"}

    def manage(*command: str) -> dict[str, str]:
        done = subprocess.run(
            [sys.executable, "manage.py", *command, "--json"],
            cwd=environment.ROOT,
            env=environment.clean_environment(folder) | environ,
            check=True,
            capture_output=True,
            text=True,
            timeout=120,
        )
        found: dict[str, str] = json.loads(done.stdout)
        return found

    def hook(kind: str, config: object) -> str:
        made = manage(
            "new_channel", "--agent", "shop", "--kind", kind, "--label", kind, "--config",
            json.dumps(config),
        )  # fmt: skip
        return "/hooks/" + made["webhook_url"].partition("/hooks/")[2]

    manage("new_agent", "shop")
    toy = hook("toy", {"room": "support", "api_key": toy_chat.KEY, "hook_secret": toy_chat.SECRET})
    meta = hook("whatsapp", WHATSAPP)
    rows = Rows(database_url)
    with running(folder, database_url, environ=environ) as server:
        said = toy_chat.signed(toy_chat.said("Anybody?"))
        status, headers = call(server, toy, said)
        assert (status, headers["Set-Cookie"]) == (200, None)
        until(
            rows,
            "SELECT COUNT(*) AS n FROM handoff_inboundevent WHERE outcome = 'unmatched'",
            1,
        )
        assert call(server, toy, said)[0] == 200
        assert rows.count("SELECT COUNT(*) AS n FROM handoff_inboundevent") == 1

        def padded(size: int) -> Delivery:
            body = b'{"object": "whatsapp_business_account", "entry": []}'.ljust(size)
            proof = whatsapp.signature(whatsapp.APP_SECRET, body)
            return Delivery(body=body, headers={"X-Hub-Signature-256": proof})

        assert call(server, meta, padded(3 * MIB))[0] == 200
        assert call(server, meta, padded(3 * MIB + 1))[0] == 413
        assert call(server, toy, toy_chat.signed(body=b"[" + b" " * MIB + b"]"))[0] == 413
        server.terminate()
        assert server.wait(20) == 0
