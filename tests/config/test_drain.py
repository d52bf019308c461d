"""SIGTERM with everything open at once: nothing is cut, and the process ends."""

import contextlib
import http.client
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.config.servers import Server


def _read_to_the_end(server: Server, path: str, opened: threading.Event) -> bytes:
    """The body of a chunked stream; raises IncompleteRead when it is cut."""
    with contextlib.closing(server.connection()) as connection:
        connection.request("GET", path)
        response = connection.getresponse()
        first = response.read(1)
        opened.set()
        return first + response.read()


@pytest.mark.slow
def test_sigterm_lets_the_view_finish_and_ends_polls_streams_and_sockets(server: Server) -> None:
    opened = threading.Event()
    with (
        contextlib.closing(server.connection()) as idle,
        ThreadPoolExecutor(3) as clients,
        connect(f"ws://127.0.0.1:{server.port}/ws/probe") as socket,
    ):
        idle.request("GET", "/probe/ping")
        idle.getresponse().read()
        poll = clients.submit(server.get, "/probe/poll?nothing")
        events = clients.submit(_read_to_the_end, server, "/probe/events", opened)
        socket.send("hello")
        assert socket.recv() == "hello"
        assert opened.wait(5)
        view = clients.submit(server.get, "/probe/slow?seconds=2")
        time.sleep(0.7)

        server.terminate()
        asked = time.monotonic()
        assert poll.result(5) == (200, b"stopping")
        assert events.result(5) == b": open\n\n"
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=5)
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1012, "restarting")
        assert time.monotonic() - asked < 0.7, "those who only waited were kept waiting"
        assert not view.done()
        assert view.result(5) == (200, b"done")
        assert server.wait(3) == 0
        assert time.monotonic() - asked < 3
        assert idle.sock.recv(1) == b""
    assert "Traceback" not in server.log()


@pytest.mark.slow
def test_a_kept_alive_client_is_told_to_close_while_the_server_drains(server: Server) -> None:
    with (
        contextlib.closing(server.connection()) as kept,
        ThreadPoolExecutor(1) as clients,
    ):
        kept.request("GET", "/probe/ping")
        assert kept.getresponse().read() == b"pong"
        view = clients.submit(server.get, "/probe/slow?seconds=1.5")
        time.sleep(0.5)
        server.terminate()
        time.sleep(0.3)
        kept.request("GET", "/probe/ping")
        response = kept.getresponse()
        assert (response.status, response.getheader("Connection")) == (200, "close")
        assert response.read() == b"pong"
        with pytest.raises(ConnectionRefusedError):
            server.get("/probe/ping")
        assert view.result(5) == (200, b"done")
    assert server.wait(3) == 0


@pytest.mark.slow
def test_a_second_sigterm_does_not_cut_the_drain(server: Server) -> None:
    with ThreadPoolExecutor(1) as clients:
        view = clients.submit(server.get, "/probe/slow?seconds=1.5")
        time.sleep(0.4)
        server.terminate()
        time.sleep(0.3)
        server.process.send_signal(signal.SIGINT)
        assert view.result(5) == (200, b"done")
    assert server.wait(3) == 0


@pytest.mark.slow
def test_a_large_answer_to_a_slow_reader_is_sent_whole_before_the_exit(server: Server) -> None:
    with contextlib.closing(server.socket()) as slow_reader:
        slow_reader.sendall(b"GET /probe/large HTTP/1.1\r\nHost: localhost\r\n\r\n")
        time.sleep(0.5)
        server.terminate()
        time.sleep(0.5)
        received = bytearray()
        with contextlib.suppress(TimeoutError):
            while chunk := slow_reader.recv(65_536):
                received += chunk
    assert received.count(b"0123456789abcdef") == 65_536
    assert server.wait(5) == 0


@pytest.mark.slow
@pytest.mark.full
def test_a_stuck_thread_does_not_keep_the_process(server: Server) -> None:
    with ThreadPoolExecutor(1) as clients:
        view = clients.submit(server.get, "/probe/slow?seconds=60", timeout=60)
        time.sleep(0.5)
        server.terminate()
        assert server.wait(25) == 1
        with pytest.raises((ConnectionError, http.client.HTTPException)):
            view.result(5)
    assert "left behind at exit" in server.log()
