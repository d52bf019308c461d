"""Whatever bytes come back, there are words for the model, and a program that goes on."""

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handoff_client import Answer, Desk, answers
from tests.client.raw_server import RawServer, answer
from tests.client.test_reading import READABLE, TOKEN

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
MEMBERS = st.sampled_from(["text", "isError", "result", "error", "code", "details", "title"])
BODIES = (
    st.none()
    | st.binary()
    | st.dictionaries(MEMBERS, JSON).map(lambda body: json.dumps(body).encode())
)
WHOLE = answer(200, READABLE, X_Odd="a", Content_Type="application/json")


def is_usable(found: Answer) -> None:
    """An answer is words that every framework can send on, and data that can be kept."""
    assert found.text.strip()
    assert found.text.encode()
    assert json.dumps(found.result, allow_nan=False, ensure_ascii=False).encode() is not None
    assert isinstance(found.is_error, bool)
    assert isinstance(found.code, str)
    assert found.handoff is None or isinstance(found.handoff, dict)


@given(status=st.integers(200, 999), body=BODIES)
@settings(max_examples=500)
def test_every_body_is_words(status: int, body: bytes | None) -> None:
    found = answers.read(answers.Received(status, {}, body))
    is_usable(found)
    if not 200 <= status < 300:
        assert found.is_error
        assert found.text.startswith(f"Refused. Tool callback returned HTTP {status}.")


@given(at=st.integers(0, len(WHOLE)), spliced=st.binary(max_size=40), cut=st.integers(0, 30))
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_every_way_to_spoil_an_answer_is_words(at: int, spliced: bytes, cut: int) -> None:
    with RawServer(WHOLE[:at] + spliced + WHOLE[at + cut :]) as server:
        is_usable(Desk(server.url, TOKEN, timeout=1).call("x", {}))
