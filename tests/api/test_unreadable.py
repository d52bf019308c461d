"""Requests that Django or DRF refuse by themselves get an answer in our words, too."""

import pytest

from tests.api.conftest import Desk

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("path", ["nothing", "me/", "handoffs/a/b", "conversations/a%2Fb/c"])
def test_an_address_that_is_none_is_answered_in_json(desk: Desk, path: str) -> None:
    for reply in (desk.get(path), desk.post(path, {})):
        assert reply.status_code == 404
        assert reply.json() == {"error": "There is no such address here.", "code": "not_found"}


def test_an_address_that_is_none_asks_for_the_token_first(desk: Desk) -> None:
    reply = desk.get("nothing", headers={"authorization": "Bearer wrong"})
    assert (reply.status_code, reply.json()) == (401, {"error": "Not authorised."})


def test_a_query_of_too_many_fields_is_no_fault_of_ours(desk: Desk) -> None:
    reply = desk.get("handoffs?" + "a=1&" * 1001)
    assert (reply.status_code, reply.json()) == (400, {"error": "The request can't be read."})


def test_a_client_that_accepts_problem_json_gets_what_is_declared_for_it(desk: Desk) -> None:
    reply = desk.get("handoffs/hs_none", headers={"accept": "application/problem+json"})
    assert reply.headers["Content-Type"] == "application/problem+json"
    document = desk.get("openapi.json").json()
    declared = document["paths"]["/api/v1/handoffs/{public_id}"]["get"]["responses"]["404"]
    shape = declared["content"]["application/problem+json"]["schema"]["$ref"]
    assert set(document["components"]["schemas"][shape.rpartition("/")[2]]["properties"]) == {
        *reply.json(),
        "details",
    }


@pytest.mark.parametrize("wrong", ["%00", "hs_%00", "hs_" + "a" * 5000, "%EF%BF%BF", "c_%F0%9F"])
def test_what_cannot_be_an_id_is_not_found(desk: Desk, wrong: str) -> None:
    for path in (f"handoffs/{wrong}", f"conversations/{wrong}", f"handoffs?conversation={wrong}"):
        reply = desk.get(path)
        assert (reply.status_code, reply.json()["code"]) == (404, "not_found")
