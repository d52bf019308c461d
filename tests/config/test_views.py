"""What crosses between the loop and the threads: requests in, answers out, clients who leave."""

import contextlib
import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.config.servers import Server, running


@pytest.mark.slow
def test_requests_and_answers_cross_unchanged(steady: Server) -> None:
    status, body = steady.get(
        "/probe/echo?a=1&b=%C3%A4", headers={"X-Name": "value", "X_Name": "forged"}
    )
    seen = json.loads(body)
    assert status == 200
    assert (seen["method"], seen["path"], seen["query"]) == ("GET", "/probe/echo", "a=1&b=%C3%A4")
    assert seen["headers"]["HTTP_X_NAME"] == "value"

    status, body = steady.get("/probe/large")
    assert (status, len(body)) == (200, 16 * 65_536)

    with contextlib.closing(steady.connection()) as connection:
        connection.request("HEAD", "/probe/large")
        response = connection.getresponse()
        assert (response.status, response.read()) == (200, b"")
        connection.request("GET", "/probe/ping")
        assert connection.getresponse().read() == b"pong"


@pytest.mark.slow
def test_a_view_that_raises_answers_500_and_shows_nothing(steady: Server) -> None:
    status, body = steady.get("/probe/broken")
    assert status == 500
    assert b"secret" not in body
    assert "a secret of the view" in steady.log()


@pytest.mark.slow
def test_a_stream_that_raises_is_cut_and_the_server_goes_on(steady: Server) -> None:
    with contextlib.closing(steady.socket()) as client:
        client.sendall(b"GET /probe/broken-stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        received = bytearray()
        with contextlib.suppress(ConnectionResetError):
            while chunk := client.recv(4096):
                received += chunk
    assert b"half" in received
    assert not received.endswith(b"0\r\n\r\n")
    time.sleep(1.2)  # daphne's housekeeping has met the error
    assert steady.get("/probe/ping") == (200, b"pong")
    assert steady.get("/probe/broken")[0] == 500


@pytest.mark.slow
def test_a_view_runs_to_its_end_when_the_client_has_left(server: Server, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    with contextlib.closing(server.socket()) as client:
        client.sendall(
            f"GET /probe/slow?seconds=4.5&mark={mark} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        )
        time.sleep(0.2)
    server.terminate()  # nor does the end of the server cut it
    assert server.wait(10) == 0
    assert mark.exists()


@pytest.mark.slow
def test_four_leaving_stream_clients_do_not_take_the_pool_with_them(
    tmp_path: Path, desk_url: str
) -> None:
    with running(tmp_path / "desk", desk_url, HTTP_THREADS="4") as server:
        for _ in range(4):
            with contextlib.closing(server.socket()) as client:
                client.sendall(b"GET /probe/stream?seconds=6 HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert client.recv(100)
        time.sleep(5.5)  # past the moment when daphne cancels the applications
        deadline = time.monotonic() + 5
        while server.get("/probe/ping") != (200, b"pong"):
            assert time.monotonic() < deadline
        assert server.get("/probe/ping", timeout=1) == (200, b"pong")
        server.terminate()
        assert server.wait(5) == 0


@pytest.mark.slow
def test_a_call_that_waits_too_long_for_a_thread_is_told_so_and_never_begun(
    tmp_path: Path, desk_url: str
) -> None:
    marks = [tmp_path / "api", tmp_path / "page"]
    with (
        running(tmp_path / "desk", desk_url, HTTP_THREADS="1") as server,
        ThreadPoolExecutor(3) as clients,
    ):
        holder = clients.submit(server.get, "/probe/slow?seconds=3.5")
        time.sleep(0.3)
        began = time.monotonic()
        call = clients.submit(server.get, f"/api/probe/slow?seconds=0&mark={marks[0]}")
        page = clients.submit(server.get, f"/probe/slow?seconds=0&mark={marks[1]}")
        assert server.get("/healthz") == (200, b'{"status":"ok"}')
        assert server.get("/readyz") == (200, b'{"status":"ok"}')
        status, body = call.result(10)
        assert (status, json.loads(body)) == (
            503,
            {
                "error": "This call asked nobody. Do not say that it did.",
                "code": "desk_unavailable",
            },
        )
        assert page.result(10)[0] == 503
        assert 1.9 < time.monotonic() - began < 3
        assert holder.result(10) == (200, b"done")
        assert server.get("/probe/ping") == (200, b"pong")
        assert not any(mark.exists() for mark in marks)
