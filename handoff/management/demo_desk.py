"""How the demo's bot talks to the desk: JSON over HTTP, with the standard library only."""

import json
import urllib.error
import urllib.parse
import urllib.request
from http.client import HTTPException
from typing import Any, Final

type Json = dict[str, Any]

CALL_SECONDS: Final = 30.0
"""More than the desk's own time for one call, so that it is the desk that says what happened."""


class Unreachable(Exception):
    """The desk did not answer, or asks to come back later. The same call may be made again."""


class Refused(Exception):
    """The desk answered, and the answer is no."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(f"{status}: {sentence}")
        self.status = status


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the token to wherever it points."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class Desk:
    """One agent's view of one desk. Safe to use from one thread."""

    def __init__(self, base_url: str, token: str, *, host: str = "") -> None:
        """`host` is sent as the Host header when the desk is reached by another name."""
        if urllib.parse.urlsplit(base_url).scheme not in ("http", "https"):
            raise ValueError("The desk's address must begin with http:// or https://")
        self._base = base_url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        if host:
            self._headers["Host"] = host
        no_proxy = urllib.request.ProxyHandler({})
        self._opener = urllib.request.build_opener(NoRedirects, no_proxy)

    def get(self, path: str, *, timeout: float = CALL_SECONDS, **query: int | str) -> Json:
        """The answer's JSON; raises Unreachable or Refused."""
        address = f"{self._base}{path}?{urllib.parse.urlencode(query)}"
        return self._answer(self._request(address), timeout)

    def post(self, path: str, body: Json, *, key: str = "") -> Json:
        """The answer's JSON; raises Unreachable or Refused. `key` makes a repeat harmless."""
        request = self._request(f"{self._base}{path}")
        request.data = json.dumps(body).encode()
        request.add_header("Content-Type", "application/json")
        if key:
            request.add_header("Idempotency-Key", key)
        return self._answer(request, CALL_SECONDS)

    def _request(self, address: str) -> urllib.request.Request:
        return urllib.request.Request(address, headers=self._headers)  # noqa: S310  (checked above)

    def _answer(self, request: urllib.request.Request, timeout: float) -> Json:
        try:
            with self._opener.open(request, timeout=timeout) as response:
                answer = json.load(response)
        except urllib.error.HTTPError as problem:
            with problem:
                sentence = _sentence(problem)
            if problem.code == 429 or problem.code >= 500:
                raise Unreachable(f"{problem.code}: {sentence}") from problem
            raise Refused(problem.code, sentence) from problem
        except (OSError, HTTPException, ValueError) as problem:
            raise Unreachable(str(problem)) from problem
        if not isinstance(answer, dict):
            raise Unreachable("the answer is not the desk's")
        return answer


def _sentence(problem: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(problem)["error"])
    except (OSError, HTTPException, ValueError, KeyError, TypeError):
        return problem.reason
