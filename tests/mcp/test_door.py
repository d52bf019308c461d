"""`POST /mcp`: both eras of the protocol, the tools of the token, and answers that are answers."""

import json
from typing import Any

import pytest
from django.test import Client

from audit.models import Event as AuditEvent
from handoff.models import Agent, Channel, Conversation, Session
from tests import factories

OLD = "2025-11-25"
NEW = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": NEW}


class McpClient:
    """One agent's MCP client, without the comfort of one."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        token = factories.token_of(agent).text
        self.client = Client(headers={"authorization": f"Bearer {token}"})

    def post(self, body: object, **headers: str) -> Any:
        data = body if isinstance(body, str) else json.dumps(body)
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.post("/mcp", data, content_type="application/json", headers=names)

    def old(self, method: str, params: Any = None, **headers: str) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
        return self.post(body, mcp_protocol_version=OLD, **headers)

    def new(self, method: str, params: Any = None, **headers: str) -> Any:
        params = {"_meta": META, **(params or {})}
        body = {"jsonrpc": "2.0", "id": "a", "method": method, "params": params}
        mirrors = {"mcp_protocol_version": NEW, "mcp_method": method}
        if method == "tools/call":
            mirrors["mcp_name"] = params["name"]
        return self.post(body, **{**mirrors, **headers})

    def call(self, name: str, arguments: dict[str, Any], **headers: str) -> dict[str, Any]:
        answer = self.old("tools/call", {"name": name, "arguments": arguments}, **headers)
        assert answer.status_code == 200, answer.content
        result: dict[str, Any] = answer.json()["result"]
        return result


@pytest.fixture
def agent(db: None) -> Agent:
    return factories.AgentFactory.create()


@pytest.fixture
def mcp(agent: Agent) -> McpClient:
    return McpClient(agent)


@pytest.fixture
def inbox(agent: Agent) -> Channel:
    return factories.inbox_channel(agent)


@pytest.fixture
def conversation(agent: Agent) -> Conversation:
    return factories.conversation(agent)


def test_a_handshake_of_2025(mcp: McpClient) -> None:
    asked = {
        "protocolVersion": OLD,
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    first = mcp.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": asked})
    result = first.json()["result"]
    assert result["protocolVersion"] == OLD
    assert result["capabilities"] == {"tools": {"listChanged": False}}
    assert "mcp-session-id" not in first.headers
    later = mcp.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (later.status_code, later.content) == (202, b"")
    assert mcp.old("ping").json() == {"jsonrpc": "2.0", "id": 1, "result": {}}
    unknown = {**asked, "protocolVersion": "1999-01-01"}
    other = mcp.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": unknown})
    assert other.json()["result"]["protocolVersion"] == OLD


def test_a_discovery_of_2026(mcp: McpClient) -> None:
    result = mcp.new("server/discover").json()["result"]
    assert result["supportedVersions"][0] == NEW
    assert OLD in result["supportedVersions"]
    assert result["resultType"] == "complete"
    assert (result["ttlMs"], result["cacheScope"]) == (0, "private")
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "handoff-desk"
    listed = mcp.new("tools/list").json()["result"]
    assert (listed["resultType"], listed["cacheScope"]) == ("complete", "private")


@pytest.mark.parametrize("era", ["old", "new"])
def test_the_tools_are_those_of_the_token(era: str, mcp: McpClient, inbox: Channel) -> None:
    found = getattr(mcp, era)("tools/list").json()["result"]["tools"]
    assert [tool["name"] for tool in found] == ["ask_a_person", "handoff_request"]
    assert found[1]["inputSchema"]["properties"]["channel_id"]["enum"] == [inbox.pk]
    assert all(tool["outputSchema"]["type"] == "object" for tool in found)
    stranger = McpClient(factories.AgentFactory.create())
    tools = getattr(stranger, era)("tools/list").json()["result"]["tools"]
    assert [tool["name"] for tool in tools] == ["ask_a_person"]


@pytest.mark.parametrize("era", ["old", "new"])
def test_a_call_without_a_conversation_is_detached(
    era: str, mcp: McpClient, inbox: Channel
) -> None:
    params = {"name": "handoff_request", "arguments": factories.arguments(inbox)}
    result = getattr(mcp, era)("tools/call", params).json()["result"]
    assert result["isError"] is False
    assert result["content"] == [{"type": "text", "text": result["content"][0]["text"]}]
    assert result["content"][0]["text"].startswith("Handed to Shop team by owner inbox")
    assert result["structuredContent"]["human_notified"] is True
    assert Session.objects.get().conversation is None


def test_the_conversation_comes_from_a_header_or_from_meta_never_from_an_argument(
    mcp: McpClient, inbox: Channel, conversation: Conversation
) -> None:
    mcp.call(
        "handoff_request",
        factories.arguments(inbox),
        handoff_conversation=conversation.public_id,
    )
    assert Session.objects.get().conversation == conversation
    params = {
        "name": "handoff_request",
        "arguments": factories.arguments(inbox),
        "_meta": {**META, "handoff/conversation": "visitor-2"},
    }
    mcp.new("tools/call", params)
    made = Conversation.objects.get(external_id="visitor-2")
    assert Session.objects.latest("pk").conversation == made
    result = mcp.call("handoff_request", factories.arguments(inbox, conversation="c_x"))
    assert result["structuredContent"]["code"] == "invalid_arguments"


def test_a_refusal_is_an_answer(mcp: McpClient, inbox: Channel) -> None:
    result = mcp.call("handoff_request", {"channel_id": inbox.pk})
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith("Refused. ")
    assert result["structuredContent"]["code"] == "invalid_arguments"
    result = mcp.call("no_such_tool", {})
    assert result["structuredContent"]["code"] == "unknown_tool"
    assert AuditEvent.objects.filter(action="tool.call_rejected").count() == 2


def test_another_agents_conversation_is_refused_in_words(mcp: McpClient, inbox: Channel) -> None:
    foreign = factories.conversation(factories.AgentFactory.create())
    result = mcp.call(
        "handoff_request",
        factories.arguments(inbox),
        handoff_conversation=foreign.public_id,
    )
    assert result["content"][0]["text"] == "Refused. That token is not for this Bot."
    assert not Session.objects.exists()
    assert AuditEvent.objects.filter(action="tool.callback_refused").count() == 1


def test_the_same_key_asks_once(mcp: McpClient, inbox: Channel) -> None:
    first = mcp.call("handoff_request", factories.arguments(inbox), idempotency_key="k1")
    again = mcp.call("handoff_request", factories.arguments(inbox), idempotency_key="k1")
    assert first == again
    assert Session.objects.count() == 1


def test_a_holder_says_for_which_hop_it_calls(mcp: McpClient, agent: Agent) -> None:
    asker = factories.AgentFactory.create()
    hop = factories.requested(asker, factories.sibling_channel(asker, agent))
    person = factories.inbox_channel(agent)
    result = mcp.call("handoff_request", factories.arguments(person))
    assert result["structuredContent"]["code"] == "invalid_arguments"
    mcp.call("handoff_request", factories.arguments(person), handoff_on_behalf_of=hop.public_id)
    assert Session.objects.latest("pk").parent == hop


BAD: list[tuple[Any, dict[str, str], int, int]] = [
    ("{", {}, 400, -32700),
    ([], {}, 400, -32600),
    ({"id": 1, "method": "ping"}, {}, 400, -32600),
    ({"jsonrpc": "2.0", "id": 1}, {}, 400, -32600),
    ({"jsonrpc": "2.0", "id": {}, "method": "ping"}, {}, 400, -32600),
    ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}, {}, 400, -32602),
    ({"jsonrpc": "2.0", "id": 1, "method": "resources/list"}, {}, 200, -32601),
    ({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {}}, {}, 400, -32602),
    ({"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"mcp_protocol_version": "1"}, 400, -32022),
    ({"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"mcp_protocol_version": NEW}, 400, -32602),
]


@pytest.mark.parametrize(("body", "headers", "status", "code"), BAD)
def test_what_is_not_a_message_gets_an_error_of_json_rpc(
    body: Any, headers: dict[str, str], status: int, code: int, mcp: McpClient
) -> None:
    answer = mcp.post(body, **headers)
    said = answer.json()
    assert (answer.status_code, said["error"]["code"]) == (status, code)
    assert said["jsonrpc"] == "2.0"


def test_the_headers_of_2026_mirror_the_body(mcp: McpClient) -> None:
    wrong = mcp.new("tools/list", mcp_method="tools/call")
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (400, -32020)
    params = {"name": "ask_a_person", "arguments": {}}
    wrong = mcp.new("tools/call", params, mcp_name="handoff_request")
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (400, -32020)
    wrong = mcp.new("tools/list", mcp_protocol_version=OLD)
    assert wrong.json()["error"]["code"] == -32020
    gone = mcp.new("initialize")
    assert (gone.status_code, gone.json()["error"]["code"]) == (404, -32601)


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ("=?base64?cMOpcnNvbm5l?=", 200),
        ("=?base64?cMOpcnNvbm5?=", 400),
        ("=?base64?/w==?=", 400),
        ("personne", 400),
    ],
)
def test_a_name_that_no_header_can_carry_comes_wrapped(
    header: str, status: int, mcp: McpClient
) -> None:
    answer = mcp.new("tools/call", {"name": "pérsonne", "arguments": {}}, mcp_name=header)
    assert answer.status_code == status
    if status == 200:
        assert answer.json()["result"]["structuredContent"]["code"] == "unknown_tool"


def test_there_is_nothing_to_get_and_no_session_to_delete(mcp: McpClient) -> None:
    assert [mcp.client.get("/mcp").status_code, mcp.client.delete("/mcp").status_code] == [405, 405]


def test_without_a_token_it_is_a_401(db: None) -> None:
    answer = Client().post("/mcp", "{}", content_type="application/json")
    assert (answer.status_code, answer.json()) == (401, {"error": "Not authorised."})
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_only_pages_on_the_agents_list_may_call(mcp: McpClient, agent: Agent) -> None:
    agent.allowed_origins = ["https://shop.example"]
    agent.save()
    assert mcp.old("ping", origin="https://shop.example").status_code == 200
    assert mcp.old("ping", origin="https://evil.example").status_code == 403
    assert mcp.old("ping", origin="null").status_code == 403
