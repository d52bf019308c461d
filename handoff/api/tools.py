"""`GET /api/v1/tools`: what this token's agent may call now, in the shape its framework takes."""

import json
from hashlib import sha256

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request

from handoff.api.agentview import AgentView
from handoff.api.openapi import REFUSALS
from handoff.contract.payloads import ToolList
from handoff.contract.tool_formats import ToolFormat, formatted
from handoff.errors import Invalid
from handoff.selectors.offers import offered

_SWITCH: dict[str, bool] = {"0": False, "1": True}


class Tools(AgentView):
    @extend_schema(
        operation_id="list_tools",
        summary="List the tools for your model",
        description="Those that you may call now, in the shape that your framework takes. The "
        "text is the same for the same facts, so that prompt caches hold; `ETag` says whether it "
        "is still what you have.",
        tags=["tools"],
        parameters=[
            OpenApiParameter(
                "If-None-Match",
                str,
                OpenApiParameter.HEADER,
                description="The `ETag` of the list that you have; 304 when it still holds.",
            ),
            OpenApiParameter("format", str, enum=list(ToolFormat), description="Default: mcp."),
            OpenApiParameter(
                "strict",
                str,
                enum=list(_SWITCH),
                description="1: every property required, nullable where it may be absent.",
            ),
        ],
        responses={200: ToolList, 304: None, **REFUSALS},
    )
    def get(self, request: Request) -> HttpResponse:
        shape = request.query_params.get("format") or ToolFormat.MCP
        strict = request.query_params.get("strict") or "0"
        problems = []
        if shape not in list(ToolFormat):
            problem = f"must be one of {', '.join(ToolFormat)}"
            problems.append({"field": "format", "problem": problem})
        if strict not in _SWITCH:
            problems.append({"field": "strict", "problem": "must be 0 or 1"})
        if problems:
            said = "; ".join(f"{item['field']} {item['problem']}" for item in problems)
            raise Invalid(f"The query can't be used: {said}.", details={"problems": problems})
        listed = formatted(offered(self.agent), ToolFormat(shape), strict=_SWITCH[strict])
        text = json.dumps({"tools": listed}, ensure_ascii=False, separators=(",", ":"))
        tag = f'"{sha256(text.encode()).hexdigest()[:32]}"'
        headers = {"ETag": tag, "Cache-Control": "private, no-store"}
        if tag in request.headers.get("if-none-match", ""):
            return HttpResponse(status=304, headers=headers)
        return HttpResponse(text.encode(), content_type="application/json", headers=headers)
