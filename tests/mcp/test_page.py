"""docs/mcp.md: each block is read, and its address and headers are used; each program is run."""

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest

from tests import environment
from tests.client import snippets
from tests.client.shop import Shop, shop
from tests.client.test_docs import HANDED

PAGE: Final = environment.ROOT / "docs" / "mcp.md"
VERSIONS: Final = ("2025-11-25", "2026-07-28")
TOKENS: Final = ("${DESK_TOKEN}", "${env:DESK_TOKEN}", "${input:desk-token}", "$DESK_TOKEN", "hd_…")
"""As the clients write what they put in: the longer ones first."""

type Told = tuple[str, dict[str, str]]


def plain(root: str, url: str = "url") -> Callable[[Any], Told]:
    """A block with an address and headers, as most are."""

    def read(block: Any) -> Told:
        server = block[root]["handoff"]
        return server[url], server["headers"]

    return read


def by_a_program(block: Any) -> Told:
    """What `mcp-remote` is told on its command line."""
    server = block["mcpServers"]["handoff"]
    program, address, *options = server["args"][1:]
    assert program == "mcp-remote"
    name, _, value = options[options.index("--header") + 1].partition(":")
    for variable, said in server["env"].items():
        value = value.replace(f"${{{variable}}}", said)
    return address, {name: value}


def by_a_variable(block: Any) -> Told:
    server = block["mcp_servers"]["handoff"]
    assert server["bearer_token_env_var"] == "DESK_TOKEN"
    return server["url"], {"Authorization": "Bearer $DESK_TOKEN"}


BLOCKS: Final[dict[str, Callable[[Any], Told]]] = {
    "Claude Code": plain("mcpServers"),
    "Claude Desktop": by_a_program,
    "Cursor": plain("mcpServers"),
    "VS Code": plain("servers"),
    "Windsurf": plain("mcpServers", "serverUrl"),
    "Zed": plain("context_servers"),
    "Codex CLI": by_a_variable,
    "Gemini CLI": plain("mcpServers", "httpUrl"),
}


def blocks() -> dict[str, Any]:
    """Client -> its block, read."""
    found = re.findall(r"^### (.+?)\n.*?^```(json|toml)\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    readers = {"json": json.loads, "toml": tomllib.loads}
    return {client: readers[language](source) for client, language, source in found}


def ask(client: httpx2.Client, told: Told, desk: Shop, version: str) -> Any:
    """The tools, as a client lists them that was told an address and headers."""
    address, headers = told
    assert address.startswith("https://desk.example.org/")
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    mirrors = {"MCP-Protocol-Version": version}
    if version == VERSIONS[1]:
        body["params"]["_meta"] = {"io.modelcontextprotocol/protocolVersion": version}
        mirrors["Mcp-Method"] = "tools/list"
    answer = client.post(
        address.replace("https://desk.example.org", desk.url),
        json=body,
        headers={name: filled(value, desk.token) for name, value in headers.items()} | mirrors,
    )
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]["tools"]


def filled(value: str, token: str) -> str:
    for placeholder in TOKENS:
        value = value.replace(placeholder, token)
    return value


WHILE_OUT: Final = (
    "Until this handoff is released the visitor's messages go to them, not to you. After that you "
    "get a note that begins with [Bot resumed, and the visitor is yours again."
)
DETACHED: Final = " Ask handoff_status for the answer."
PROGRAMS: Final = {
    "LangChain 1": (
        "langchain_mcp",
        f"I was told: {HANDED.removesuffix(DETACHED)} {WHILE_OUT}",
    ),
    "OpenAI Agents SDK 1": (
        "frameworks",
        f"I was told: {[{'type': 'input_text', 'text': HANDED}]}",
    ),
}
"""Program -> its environment, and what it prints."""


@pytest.mark.once
@pytest.mark.slow
def test_each_block_and_each_program_of_the_page_reaches_a_running_desk(
    tmp_path: Path, database_url: str
) -> None:
    read = blocks()
    found = snippets.of(PAGE)
    with shop(tmp_path / "desk", database_url) as desk, desk.served(), httpx2.Client() as http:
        for client, told in BLOCKS.items():
            for version in VERSIONS:
                tools = ask(http, told(read[client]), desk, version)
                names = [tool["name"] for tool in tools]
                assert names == ["ask_a_person", "handoff_request"], (client, version)
        for program, (lock, says) in PROGRAMS.items():
            printed = snippets.run(desk, tmp_path, found[program], lock=lock)
            assert printed.strip() == says, program


def test_no_block_and_no_program_of_the_page_is_left_out() -> None:
    assert set(blocks()) == set(BLOCKS)
    programs = {name for name, (language, _) in snippets.of(PAGE).items() if language == "python"}
    assert programs == set(PROGRAMS)
