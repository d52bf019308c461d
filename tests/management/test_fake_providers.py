"""`manage.py fake_providers`: the providers on this machine, for trying channels out."""

import json
import re
import signal
import socket
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from handoff.outbound.http import HttpAnswer, call
from handoff.transports import transport_class
from tests import environment
from tests.fakes.examples import CONFIGS, furnish
from tests.fakes.providers import BASES, Providers
from tests.transports.mail_samples import request


def ask(url: str, **more: str) -> HttpAnswer:
    return call("POST", url, deadline=time.monotonic() + 10, json={"chat_id": 4242, **more})


@pytest.mark.slow
def test_it_says_what_to_set_prints_what_arrives_and_stops(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "manage.py", "fake_providers", "--port", "0"],
        cwd=environment.ROOT,
        env=environment.clean_environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        said = ""
        while "Ctrl-C" not in said:
            line = process.stdout.readline()
            assert line, said
            said += line
        bases = dict(re.findall(r"^  ([A-Z]+_API_BASE)=(http://127\.0\.0\.1:\d+/\S*)$", said, re.M))
        assert set(bases) == set(BASES.values())
        for provider in CONFIGS:
            config = re.search(rf"--kind {provider} .*--config '(.*)'$", said, re.M)
            assert config is not None
            assert json.loads(config[1]) == CONFIGS[provider]
        token = str(CONFIGS["telegram"]["bot_token"])
        sent = ask(f"{bases['TELEGRAM_API_BASE']}/bot{token}/sendMessage", text="Grüße an Mia")
        assert sent.status == 200
        process.send_signal(signal.SIGINT)
        heard = process.stdout.read()
    assert process.returncode == 0
    assert re.search(r"^\d\d:\d\d:\d\d telegram POST /bot…/sendMessage$", heard, re.M)
    assert '  "text": "Grüße an Mia"' in heard
    assert "-> 200" in heard
    assert token not in heard
    assert heard.endswith("Stopped.\n")


@pytest.mark.parametrize("kind", CONFIGS)
def test_the_channels_that_it_names_work(providers: Providers, kind: str) -> None:
    furnish(providers)
    found = transport_class(kind)
    transport = found(found.settings_model.model_validate(CONFIGS[kind]))
    sent = transport.send(request(), deadline=time.monotonic() + 5)
    assert sent.provider_message_id


def test_an_installation_without_the_tests_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tests.fakes.providers", None)
    with pytest.raises(CommandError, match=r"come with the tests, and this installation has none"):
        call_command("fake_providers", stdout=StringIO())


def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CommandError, match=rf"Port {port} cannot be taken .*--port"):
            call_command("fake_providers", "--port", str(port), stdout=StringIO())
