"""The official client, once for each way to agree on a version: `MODE…` on the command line.

Prints what it listed and what it was told. Runs in an environment of its own.
"""

import asyncio
import json
import os
import sys
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

URL = os.environ["DESK_URL"] + "/mcp"
HEADERS = {"Authorization": f"Bearer {os.environ['DESK_TOKEN']}"}
CALLS: list[tuple[str, dict[str, Any]]] = json.loads(os.environ["DESK_CALLS"])


def plain(result: Any) -> dict[str, Any]:
    [said] = result.content
    return {"text": said.text, "is_error": result.is_error, "result": result.structured_content}


async def tell(mode: str) -> dict[str, Any]:
    """The client itself holds each success against the `outputSchema` of its tool."""
    async with httpx2.AsyncClient(headers=HEADERS, timeout=60) as http:
        transport = streamable_http_client(URL, http_client=http)
        async with Client(transport, mode=mode) as client:
            listed = (await client.list_tools()).tools
            told = [plain(await client.call_tool(name, args)) for name, args in CALLS]
            return {
                "version": client.protocol_version,
                "server": client.server_info and client.server_info.name,
                "instructions": client.instructions,
                "tools": [tool.name for tool in listed],
                "typed": all(tool.output_schema for tool in listed),
                "told": told,
            }


if __name__ == "__main__":
    found = [asyncio.run(tell(mode)) for mode in sys.argv[1:]]
    print(json.dumps(found))  # noqa: T201
