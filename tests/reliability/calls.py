"""Hostile requests to the REST API: broken bodies, odd queries, odd headers."""

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from hypothesis import strategies as st

from config import health
from tests import factories
from tests.contract.hostile import JSON_VALUES, PIECES, TEXTS

ODD_NUMBERS: Final = (0, -1, 1, 2**31, 2**63 - 1, 2**63, -(2**63) - 1, 10**30, 10**399, 1.5, -0.0)
ODD_VALUES: Final[st.SearchStrategy[Any]] = st.one_of(
    TEXTS,
    JSON_VALUES,
    st.sampled_from(ODD_NUMBERS),
    st.sampled_from([None, True, False, [], {}, [[]], {"": {}}, [None], "x" * 9000]),
)
RAW_BODIES: Final = st.one_of(
    st.binary(max_size=60),
    st.sampled_from(
        [
            b"",
            b"null",
            b"[]",
            b'""',
            b"{",
            b"NaN",
            b"1e400",
            b"9" * 5000,
            b'{"name": ' + b"9" * 5000 + b"}",
            b"[" * 20_000,
            b'{"name": "x", "args": ' + b'{"a":' * 3000 + b"1" + b"}" * 3001,
            b'{"name": "x", "args": ' + b"[" * 14 + b"]" * 14 + b"}",
            b'{"name": "x", "name": "y"}',
            b'{"name": "handoff_status", "args": {"a": 1, "a": 2}}',
            b'{"name": "x", "args": {"a\\u0000b": 1}}',
            b'{"name": "x", "args": {"\\ud800": 1}}',
            b'{"name": "\\ud800\\udc00", "args": {"a": "\\udc00"}}',
            b'{"name": "x", "args": {"a": -Infinity}}',
            b'\xef\xbb\xbf{"name": "x"}',
            '{"name": "x"}'.encode("utf-16"),
            '{"name": "x"}'.encode("utf-32"),
            b'{"name": "\xff\xfe"}',
            b'{"name": "x"}{"name": "y"}',
            b'{"name": "' + b"\\" * 4001 + b'"}',
            b'{"name": "x"}' + b" " * 300_000,
        ]
    ),
)
# no NUL and no line break: the server refuses those before the application is asked
ODD_HEADERS: Final[dict[str, st.SearchStrategy[str]]] = {
    "authorization": st.sampled_from(
        ["", "Bearer", "Bearer ", "Basic eDp5", "bearer x y", f"Bearer hd_{'a' * 8}_{'b' * 43}"]
    ),
    "content-type": st.sampled_from(
        [
            "",
            "text/plain",
            "application/json; charset=utf-16",
            "application/json; charset=\x01",
            "multipart/form-data",
            "application/x-www-form-urlencoded",
            ";;;",
        ]
    ),
    "accept": st.sampled_from(["", "text/html", "application/problem+json", "*/*;q=x", "\xff"]),
    "accept-language": st.sampled_from(["de", "xx-" + "y" * 600, "\xff\xfe", "*"]),
    "idempotency-key": st.one_of(
        st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=20),
        st.sampled_from(["k", "k" * 255, "k" * 256, "\x7f", "\xff"]),
    ),
    "x-forwarded-for": st.sampled_from(["\x01", "1.2.3.4, ::1", ",,,", "x" * 4000]),
    "x-openbot-agent-token": st.sampled_from(["", "\x01", "hd_x", "\xff" * 100]),
}


@dataclasses.dataclass(frozen=True)
class Call:
    """One request: `template` is the path as the OpenAPI document writes it."""

    method: str
    template: str
    path: str
    query: str
    body: bytes
    headers: Mapping[str, str]


@dataclasses.dataclass(frozen=True)
class Known:
    """Ids that exist, so that a good deal of the calls get past the doors."""

    conversation: str
    session: str
    channel: int


def calls(document: Mapping[str, Any], known: Known) -> st.SearchStrategy[Call]:
    """Requests to every operation that the document declares for Django's side."""
    operations = [
        (method.upper(), path)
        for path, found in document["paths"].items()
        if "/wait/" not in path and path not in health.PATHS
        for method in found
    ]
    return st.sampled_from(operations).flatmap(lambda found: _call(found[0], found[1], known))


def _call(method: str, template: str, known: Known) -> st.SearchStrategy[Call]:
    bodies = _bodies(template, known) if method == "POST" else st.just(b"")
    return st.builds(
        Call,
        _mostly(st.just(method), st.sampled_from(["PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"])),
        st.just(template),
        _path(template, known),
        _queries(known),
        bodies,
        _headers(),
    )


def _path(template: str, known: Known) -> st.SearchStrategy[str]:
    right = known.session if "handoffs" in template else known.conversation
    segment = _mostly(
        st.just(right), st.one_of(TEXTS, st.sampled_from(["%", "..", "%2e", "x" * 3000]))
    )
    return segment.map(lambda text: template.replace("{public_id}", _quoted(text) or "-"))


def _quoted(text: str) -> str:
    """As one segment: a slash would make it another address."""
    return quote(text.replace("/", "-"), safe="", errors="surrogatepass")


def _queries(known: Known) -> st.SearchStrategy[str]:
    numbers = st.sampled_from(["0", "1", "-1", "x", "", "1e3", "٣", "9" * 30, "9" * 5000, "%00"])
    names = st.sampled_from(["after", "limit", "status", "conversation", "seconds", "x", "%00"])
    texts = st.one_of(
        numbers,
        st.sampled_from(["active", "released", known.conversation, "c_nothing", "%ff"]),
        TEXTS.map(lambda text: quote(text, safe="", errors="surrogatepass")),
    )
    pair = st.tuples(names, texts).map("=".join)
    return _mostly(st.just(""), st.lists(pair, max_size=4).map("&".join))


def _headers() -> st.SearchStrategy[dict[str, str]]:
    odd = st.sampled_from(sorted(ODD_HEADERS)).flatmap(
        lambda name: ODD_HEADERS[name].map(lambda value: {name: value})
    )
    return _mostly(st.just({}), odd)


def _mostly[T](usual: st.SearchStrategy[T], odd: st.SearchStrategy[T]) -> st.SearchStrategy[T]:
    return st.integers(0, 3).flatmap(lambda place: odd if place == 0 else usual)


def _bodies(template: str, known: Known) -> st.SearchStrategy[bytes]:
    right = st.sampled_from(_right_bodies(template, known))
    bent = st.builds(lambda value, changes: _changed(value, changes), right, _changes())
    return st.integers(0, 9).flatmap(
        lambda place: (
            RAW_BODIES
            if place == 0
            else ODD_VALUES.map(_encoded)
            if place == 1
            else bent.map(_encoded)
        )
    )


def _right_bodies(template: str, known: Known) -> Sequence[dict[str, Any]]:
    if template.endswith("/messages"):
        return [{"client_id": "1", "author": "subscriber", "text": "Hello", "ack_event_id": 0}]
    if template.endswith("/tickets"):
        return [{"role": "subscriber"}]
    if template.endswith("/conversations"):
        subscriber = {"name": "Ana", "email": "ana@example.com", "locale": "en"}
        return [{"external_id": "visitor-1", "subscriber": subscriber}]
    asked = {
        "channel_id": known.channel,
        "summary": factories.SUMMARY,
        "expected_action": factories.EXPECTED_ACTION,
        "urgency": "high",
        "contact_back_email": "ana@example.com",
        "extra_context": {"order": "1234"},
        "expected_return": factories.FIELDS,
    }
    named = {"handoff_session_id": known.session}
    tools = {
        "handoff_request": asked,
        "handoff_status": named,
        "handoff_cancel": {**named, "reason": "not needed"},
        "handoff_release": {**named, "outcome": "resolved", "return_values": {"a": 1}},
        "handoff_reply": {**named, "text": "Hello"},
        "ask_a_person": {"question": "Is anybody there who can help?"},
    }
    places = [None, known.conversation, {"external_id": "visitor-2"}]
    return [
        {"name": name, "args": args, "conversation": place, "run": "r1"}
        for name, args in tools.items()
        for place in places
    ]


type Change = Callable[[Any], Any]


def _changes() -> st.SearchStrategy[list[tuple[list[int], Change]]]:
    """Up to three: each is a way down into the value, and what becomes of what lies there."""
    way = st.lists(st.integers(0, 6), max_size=5)
    change: st.SearchStrategy[Change] = st.one_of(
        ODD_VALUES.map(lambda odd: lambda _: odd),
        st.sampled_from(PIECES).map(lambda piece: lambda old: f"{old}{piece}"),
        st.tuples(TEXTS, ODD_VALUES).map(
            lambda pair: lambda old: {**old, pair[0]: pair[1]} if isinstance(old, dict) else [old]
        ),
        st.integers(1, 25).map(lambda depth: lambda old: _nested(old, depth)),
        st.just(lambda old: [old] * 30),
    )
    return st.lists(st.tuples(way, change), max_size=3)


def _nested(value: Any, depth: int) -> Any:
    for _ in range(depth):
        value = {"a": value}
    return value


def _changed(value: Any, changes: Sequence[tuple[list[int], Change]]) -> Any:
    for way, change in changes:
        value = _at(value, way, change)
    return value


def _at(value: Any, way: Sequence[int], change: Change) -> Any:
    """A copy of `value` in which `change` was applied where the way ends."""
    if not way or not isinstance(value, dict | list) or not value:
        return change(value)
    if isinstance(value, list):
        place = way[0] % len(value)
        return [*value[:place], _at(value[place], way[1:], change), *value[place + 1 :]]
    key = sorted(value)[way[0] % len(value)]
    return {**value, key: _at(value[key], way[1:], change)}


def _encoded(value: Any) -> bytes:
    """As JSON with NaN and with lone surrogates: as far as `json` lets anything out."""
    return json.dumps(value).encode()
