"""The OpenAPI document as a page: all of it, under a strict policy, with calls that work."""

import shlex
from urllib.parse import urlsplit

import lxml.html
import pytest
from django.test import Client

from handoff.api.reference import Operation, document, read, reference
from handoff.api.reference_shapes import kind, limits, prose
from tests import factories
from tests.api.conftest import Desk

OUTSIDE = ("/api/v1/wait/", "/healthz", "/readyz")
"""Answered outside Django's handlers."""
LOOKS_UP = {"create_webhook": {400}}
"""What may refuse a good body: the example's host is nobody's."""
ALL = [operation for group in reference().groups for operation in group.operations]


@pytest.fixture
def page() -> lxml.html.HtmlElement:
    answer = Client(headers={"host": "desk.example.org"}).get("/api/v1/docs")
    assert answer.status_code == 200
    assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
    return lxml.html.fromstring(answer.content.decode())


def test_it_shows_all_of_the_document(page: lxml.html.HtmlElement) -> None:
    paths = document()["paths"]
    assert {(one.method.lower(), one.path) for one in ALL} == {
        (method, path) for path, methods in paths.items() for method in methods
    }
    for operation in ALL:
        [article] = page.xpath("//article[@id=$id]", id=operation.id)
        words = " ".join(article.text_content().split())
        described = paths[operation.path][operation.method.lower()]
        for shown in (operation.summary, operation.method, operation.path, *described["responses"]):
            assert shown in words, (operation.id, shown)
        for parameter in described.get("parameters", []):
            assert parameter["name"] in words, operation.id
    shapes = {one.removeprefix("shape-") for one in page.xpath("//article/@id")}
    assert set(document()["components"]["schemas"]) <= shapes


def test_every_link_leads_somewhere(page: lxml.html.HtmlElement) -> None:
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))
    links = [href for href in page.xpath("//a/@href") if href.startswith("#")]
    assert len(links) > 100
    assert {href[1:] for href in links} <= set(ids)


def test_nothing_of_it_needs_a_weaker_policy(page: lxml.html.HtmlElement) -> None:
    assert page.xpath("//style | //@style | //script[not(@src)] | //*[@onclick]") == []
    for address in page.xpath("//@src | //link/@href"):
        assert urlsplit(address).netloc == "", address


@pytest.mark.django_db
@pytest.mark.parametrize("operation", ALL, ids=[one.id for one in ALL])
def test_a_call_of_the_page_is_one_that_the_desk_answers(operation: Operation, desk: Desk) -> None:
    """As the reader's shell would split it, with the ids of nobody."""
    if operation.path.startswith(OUTSIDE):
        return
    factories.inbox_channel(desk.agent)
    program, url, *options = shlex.split(operation.curl.replace("\\\n", ""))
    assert program == "curl"
    given = dict(zip(options[::2], options[1::2], strict=True))
    method = given.pop("--request", "POST" if "--data" in given or "--data-binary" in given else "")
    answer = desk._client.generic(
        method or "GET",
        url.removeprefix("$DESK_URL"),
        given.get("--data", given.get("--data-binary", "")),
    )
    assert (method or "GET") == operation.method
    unfit = {400, 401, 405, 500} - LOOKS_UP.get(operation.id, set())
    assert answer.status_code in {one.status for one in operation.answers} - unfit
    assert '"Authorization: Bearer $DESK_TOKEN"' in operation.curl


def test_the_document_is_sent_again_only_when_it_changed() -> None:
    client = Client()
    first = client.get("/api/v1/openapi.json")
    again = client.get("/api/v1/openapi.json", headers={"if-none-match": first.headers["ETag"]})
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
    assert client.post("/api/v1/docs").status_code == 405


def test_what_a_document_says_is_shown_as_text() -> None:
    bad = "<script>alert(1)</script>"
    operation = {
        "operationId": "x",
        "summary": bad,
        "description": f"`{bad}` {bad}",
        "tags": ["t"],
        "security": [],
        "responses": {"200": {"description": bad}},
    }
    shown = read(
        {
            "info": {"title": bad, "version": "1"},
            "tags": [{"name": "t", "description": bad}],
            "paths": {"/x": {"get": operation}},
            "components": {"schemas": {}, "examples": {}},
        }
    )
    [group] = shown.groups
    assert [piece.text for piece in group.operations[0].said] == [bad, f" {bad}"]
    assert group.operations[0].said[0].is_code


SCHEMAS = [
    ({"$ref": "#/components/schemas/EventView"}, "EventView", ""),
    ({"type": "array", "items": {"type": "integer"}}, "list of whole number", ""),
    (
        {"anyOf": [{"type": "string", "maxLength": 9}, {"type": "null"}]},
        "text or null",
        "at most 9 characters",
    ),
    ({"type": ["boolean", "null"]}, "true or false or null", ""),
    ({"enum": ["low", "high"]}, "one of low, high", ""),
    ({"const": "superseded"}, "superseded", ""),
    ({"type": "object", "additionalProperties": {"type": "string"}}, "record of text", ""),
    ({"type": "object", "additionalProperties": True}, "object", ""),
    ({"type": "string", "format": "date-time"}, "time", ""),
    (
        {"type": "integer", "minimum": 1, "maximum": 200, "default": 50},
        "whole number",
        "1 to 200, default 50",
    ),
    ({"type": "integer", "minimum": 0, "maximum": 2**63 - 1}, "whole number", ""),
    ({"type": "array", "items": {}, "minItems": 1}, "list of anything", "at least 1 items"),
]


@pytest.mark.parametrize(("schema", "words", "said"), SCHEMAS)
def test_a_schema_in_words(schema: dict[str, object], words: str, said: str) -> None:
    assert "".join(piece.text for piece in kind(schema)) == words
    assert limits(schema) == said


def test_backticks_are_code_and_nothing_else_is() -> None:
    assert [(piece.text, piece.is_code) for piece in prose("One `a` and\n`b`.")] == [
        ("One ", False),
        ("a", True),
        (" and ", False),
        ("b", True),
        (".", False),
    ]
