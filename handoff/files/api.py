"""Files for agents: uploaded to a conversation, fetched and deleted with the agent's token."""

from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from handoff.actions.files import delete, store
from handoff.api.agentview import AgentView
from handoff.api.openapi import REFUSALS
from handoff.contract import payloads as shapes
from handoff.contract.kinds import Author, SessionStatus
from handoff.contract.text import readable
from handoff.errors import Invalid
from handoff.files.answers import download
from handoff.models import Conversation
from handoff.selectors import conversations, files, hops, payloads

_BINARY = "application/octet-stream"
_NAME = OpenApiParameter("name", str, description="Under which name it is shown and saved.")


class Upload(AgentView):
    """The body is the content, and is read block by block: not under the cap of the calls."""

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        APIView.initial(self, request, *args, **kwargs)

    def taken(self, conversation: Conversation, by: Author) -> Response:
        request = self.request
        row = store(
            conversation,
            by=by,
            actor=f"agent:{self.agent.name}",
            name=readable(request.query_params.get("name", "")),
            content_type=request.headers.get("content-type", ""),
            content=request._request,
        )
        return Response(payloads.file(row).body(), status=201)


class ConversationFiles(Upload):
    @extend_schema(
        operation_id="upload_file",
        summary="Upload a file",
        description="The body is the content, at most 10 MB, its type in `Content-Type`. Name the "
        "`id` in `files` of the line that it comes with, within a day.",
        tags=["files"],
        parameters=[_NAME],
        request={_BINARY: OpenApiTypes.BINARY},
        responses={201: shapes.FileView, **REFUSALS},
    )
    def post(self, request: Request, public_id: str) -> Response:
        return self.taken(conversations.find(self.agent, public_id), Author.AGENT)


class HandoffFiles(Upload):
    @extend_schema(
        operation_id="upload_file_as_sibling",
        summary="Upload a file to a handoff that was given to you",
        description="As to a conversation of your own; then name the `id` in `files` of "
        "`handoff_reply`.",
        tags=["files"],
        parameters=[_NAME],
        request={_BINARY: OpenApiTypes.BINARY},
        responses={201: shapes.FileView, **REFUSALS},
    )
    def post(self, request: Request, public_id: str) -> Response:
        session = hops.given(self.agent, public_id)
        if session.conversation is None or session.status != SessionStatus.ACTIVE:
            raise Invalid("This handoff takes no files: it has ended, or has no conversation.")
        conversation = Conversation.objects.select_related("agent").get(pk=session.conversation.pk)
        return self.taken(conversation, Author.SIBLING)


class OneFile(AgentView):
    @extend_schema(
        operation_id="get_file",
        summary="Fetch a file",
        description="Its content, as an attachment. A file of your conversations, or of a handoff "
        "that you hold, until it ends.",
        tags=["files"],
        responses={(200, _BINARY): OpenApiTypes.BINARY, **REFUSALS},
    )
    def get(self, request: Request, public_id: str) -> FileResponse:
        return download(files.for_agent(self.agent, public_id))

    @extend_schema(
        operation_id="delete_file",
        summary="Delete a file",
        description="Its content goes; the line that it came with keeps its name.",
        tags=["files"],
        responses={204: None, **REFUSALS},
    )
    def delete(self, request: Request, public_id: str) -> Response:
        delete(files.own(self.agent, public_id), actor=f"agent:{self.agent.name}")
        return Response(status=204)
