"""Static files are served without Django, as they are, and nothing beside them."""

import contextlib
from pathlib import Path

import pytest

from tests.config.servers import Server, running


@pytest.mark.slow
def test_static_files_come_as_they_are_and_nothing_beside_them(
    tmp_path: Path, desk_url: str
) -> None:
    text = b"body { color: #123 }\n" * 1000
    static = tmp_path / "desk" / "static"
    static.mkdir(parents=True)
    (static / "desk.css").write_bytes(text)
    (static / "desk.0123456789ab.css").write_bytes(text)
    (tmp_path / "desk" / "secret.txt").write_text("secret")
    with running(tmp_path / "desk", desk_url) as server:
        assert server.get("/static/desk.css") == (200, text)
        assert "immutable" not in _header(server, "/static/desk.css", "Cache-Control")
        hashed = "/static/desk.0123456789ab.css"
        assert "immutable" in _header(server, hashed, "Cache-Control")
        assert _header(server, hashed, "X-Content-Type-Options") == "nosniff"
        modified = {"If-Modified-Since": _header(server, hashed, "Last-Modified")}
        assert server.get(hashed, headers=modified) == (304, b"")
        assert server.get(hashed, headers={"Range": "bytes=0-3"}) == (206, b"body")
        for path in ("/static/none.css", "/static/../secret.txt", "/static/%2e%2e/secret.txt"):
            status, body = server.get(path)
            assert (status, b"secret" in body) == (404, False)


def _header(server: Server, path: str, name: str) -> str:
    with contextlib.closing(server.connection()) as connection:
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
        return response.getheader(name) or ""
