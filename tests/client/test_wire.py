"""Where a token goes and where it does not, and how long a call takes."""

import contextlib
import copy
import logging
import pickle
import socket
import ssl
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from handoff_client import AsyncDesk, Desk
from handoff_client.wire import Token
from tests.client.raw_server import RawServer, answer, endless, hang, reset
from tests.client.test_reading import INCOMPLETE, READABLE, TOKEN
from tests.fakes.certificates import server_context, write_certificate


def test_a_redirect_is_not_followed() -> None:
    with RawServer(answer(200, READABLE)) as elsewhere:
        moved = answer(307, READABLE, Location=elsewhere.url + "/api/v1/tool-calls")
        with RawServer(moved) as server:
            found = Desk(server.url, TOKEN).call("x", {})
        assert found.text == "Refused. Tool callback returned HTTP 307."
        assert elsewhere.asked == []


@pytest.mark.parametrize("name", ["http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"])
def test_a_proxy_of_the_environment_never_sees_the_token(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with RawServer(answer(200, READABLE)) as proxy, RawServer(answer(200, READABLE)) as server:
        monkeypatch.setenv(name, proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        assert Desk(server.url, TOKEN).call("x", {}).text == "Handed to Sales."
        assert (len(proxy.asked), len(server.asked)) == (0, 1)


def test_a_certificate_is_verified_before_anything_is_said(tmp_path: Path) -> None:
    pem = write_certificate(tmp_path, host="127.0.0.1")
    with RawServer(answer(200, READABLE), tls=server_context(pem)) as server:
        assert Desk(server.url, TOKEN, timeout=5).call("x", {}).text == INCOMPLETE
        assert server.asked == []
        trusting = ssl.create_default_context(cafile=pem)
        desk = Desk(server.url, TOKEN, timeout=5, context=trusting)
        assert desk.call("x", {}).text == "Handed to Sales."
        named = Desk(server.url.replace("127.0.0.1", "localhost"), TOKEN, context=trusting)
        assert named.call("x", {}).text == INCOMPLETE, "the certificate is not for that name"
        assert len(server.asked) == 1


def test_a_handshake_that_hangs_ends_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        desk = Desk(f"https://127.0.0.1:{silent.getsockname()[1]}", TOKEN, timeout=1)
        assert desk.call("x", {}).text == INCOMPLETE
        assert 0.8 < time.monotonic() - began < 4


def test_a_name_that_is_not_found_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The resolver of the system knows no deadline."""
    real = socket.getaddrinfo

    def slow(host: Any, *args: Any, **more: Any) -> Any:
        if host == "desk.invalid" and not more.get("flags"):
            time.sleep(8)
        return real(host, *args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    began = time.monotonic()
    assert Desk("http://desk.invalid", TOKEN, timeout=0.6).call("x", {}).text == INCOMPLETE
    assert time.monotonic() - began < 5


@pytest.mark.slow
@pytest.mark.parametrize("reads", [False, True])
def test_a_large_call_to_a_desk_that_hardly_reads_ends_in_time(reads: bool) -> None:
    over = threading.Event()

    def serve(listening: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while not over.is_set():
                peer, _ = listening.accept()
                with peer:
                    while not over.wait(0.05) and (not reads or peer.recv(100_000)):
                        pass

    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        listening.settimeout(20)
        serving = threading.Thread(target=serve, args=(listening,))
        serving.start()
        desk = Desk(f"http://127.0.0.1:{listening.getsockname()[1]}", TOKEN, timeout=1.5)
        began = time.monotonic()
        assert desk.call("x", {"x": "y" * 32_000_000}).text == INCOMPLETE
        assert time.monotonic() - began < 6
        over.set()
        serving.join(30)


@pytest.mark.parametrize("script", [reset, answer(401), answer(200, b"\xff"), hang, endless])
def test_the_token_is_in_no_repr_log_or_answer(
    script: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with RawServer(script) as server:
        desk = Desk(server.url, TOKEN, timeout=1)
        shown = [repr(desk), repr(AsyncDesk(desk)), repr(desk.call("x", {})), caplog.text]
        assert repr(desk) == f"Desk({server.url})"
    deep: list[object] = [desk]
    while deep:
        part = deep.pop()
        shown.append(repr(part))
        deep += list(vars(part).values()) if hasattr(part, "_door") else []
    assert all(TOKEN not in text and "secret" not in text for text in shown)


def test_a_log_line_says_what_was_tried_and_why_it_failed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with RawServer(reset) as server:
        Desk(server.url, TOKEN).call("x", {})
    first, second = caplog.messages
    assert first == second
    assert first in (
        "no answer to POST /api/v1/tool-calls: ConnectionResetError",
        "no answer to POST /api/v1/tool-calls: RemoteDisconnected",
    )


def test_a_desk_is_not_pickled_and_is_its_own_copy() -> None:
    desk = Desk("http://127.0.0.1", TOKEN)
    for secret in (desk, Token(TOKEN)):
        with pytest.raises(TypeError):
            pickle.dumps(secret)
    assert copy.deepcopy({"desk": desk})["desk"] is desk


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf")])
def test_a_timeout_that_is_none_is_a_fault_of_the_program(timeout: float) -> None:
    with pytest.raises(ValueError, match="timeout"):
        Desk("http://127.0.0.1", TOKEN, timeout=timeout)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_who_stops_the_program_is_not_answered(
    stop: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: Any, **__: Any) -> Any:
        raise stop

    monkeypatch.setattr(socket, "getaddrinfo", stopped)
    with pytest.raises(stop):
        Desk("http://127.0.0.1", TOKEN).call("x", {})
