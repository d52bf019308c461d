"""The REST resources: thin doors over selectors and actions."""

from django.conf import settings
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from handoff.actions import throttle
from handoff.actions.conversations import upsert_conversation
from handoff.actions.hops import claim_hop
from handoff.actions.tickets import mint_ticket
from handoff.actions.turns import post_turn
from handoff.api import bodies
from handoff.api.agentview import AgentView
from handoff.api.openapi import PAGE_PARAMETERS, REFUSALS, REUSED
from handoff.contract import limits, turns
from handoff.contract import payloads as shapes
from handoff.contract.kinds import SessionStatus
from handoff.errors import Invalid, NotFound, Refused
from handoff.selectors import channels, conversations, events, handoffs, hops, payloads


class Me(AgentView):
    @extend_schema(
        operation_id="me",
        summary="Who you are, and your limits",
        description="Tells whether a token works, and what the desk lets through.",
        tags=["agent"],
        responses={200: shapes.MeView, **REFUSALS},
    )
    def get(self, request: Request) -> Response:
        view = shapes.MeView(
            agent=shapes.AgentView(
                name=self.agent.name, display_name=self.agent.display_name or self.agent.name
            ),
            limits=shapes.LimitsView(
                call_bytes=limits.CALL_BYTES,
                call_seconds=settings.CALL_SECONDS,
                attempt_seconds=settings.DISPATCH_SECONDS,
                turn_text_max=limits.TURN_TEXT_MAX,
                page_max=limits.PAGE_MAX,
                wait_seconds_max=limits.WAIT_SECONDS_MAX,
                handoffs_per_minute=settings.HANDOFFS_PER_MINUTE,
                turns_per_second=settings.TURNS_PER_SECOND,
                calls_per_minute=settings.CALLS_PER_MINUTE,
            ),
        )
        return Response(view.body())


class Channels(AgentView):
    @extend_schema(
        operation_id="list_channels",
        summary="List the channels",
        description="Whom a handoff can go to, and whether they are available now.",
        tags=["agent"],
        responses={200: shapes.ChannelList, **REFUSALS},
    )
    def get(self, request: Request) -> Response:
        return Response(shapes.ChannelList(data=channels.listing(self.agent)).body())


class Conversations(AgentView):
    @extend_schema(
        operation_id="upsert_conversation",
        summary="Create or update a conversation",
        description="By your own `external_id`: 201 for a new one, 200 for one that was there. "
        "`subscriber` tells people whom they answer; what is left out stays as it is.",
        tags=["conversations"],
        request=turns.ConversationBody,
        responses={
            200: shapes.ConversationView,
            201: shapes.ConversationView,
            **REFUSALS,
        },
    )
    def post(self, request: Request) -> Response:
        row, created = upsert_conversation(self.agent, self.read(turns.ConversationBody))
        view = payloads.conversation(row, open_session=handoffs.open_session(row))
        return Response(view.body(), status=201 if created else 200)


class OneConversation(AgentView):
    @extend_schema(
        operation_id="get_conversation",
        summary="Read a conversation",
        description="With the handoff that is active in it, if any.",
        tags=["conversations"],
        responses={200: shapes.ConversationView, **REFUSALS},
    )
    def get(self, request: Request, public_id: str) -> Response:
        row = conversations.find(self.agent, public_id)
        view = payloads.conversation(row, open_session=handoffs.open_session(row))
        return Response(view.body())


class Messages(AgentView):
    has_limits = frozenset({"POST"})

    @extend_schema(
        operation_id="list_messages",
        summary="List the messages of a conversation",
        description="Oldest first. Ask again with `next_after` as `after` while `has_more` is "
        "true.",
        tags=["conversations"],
        parameters=PAGE_PARAMETERS,
        responses={200: shapes.MessagePage, **REFUSALS},
    )
    def get(self, request: Request, public_id: str) -> Response:
        query = bodies.page_query(request)
        row = conversations.find(self.agent, public_id)
        page = conversations.messages(row, after=query.after, limit=query.limit)
        return Response(page.body())

    @extend_schema(
        operation_id="post_turn",
        summary="Post a line, and hear whose turn it is",
        description="While `bypass` is true the line went to the people and your model stays "
        "silent. `context` holds the notes that your model has to read; `ack_event_id` of your "
        "next line acknowledges them. A line of the agent that comes too late is kept and "
        "answered with 200 and `code: superseded`.",
        tags=["conversations"],
        request=turns.TurnBody,
        responses={200: shapes.TurnView, 201: shapes.TurnView, **REFUSALS, **REUSED},
    )
    def post(self, request: Request, public_id: str) -> Response:
        with throttle.counting(self.known, has_limit=True):
            row = conversations.find(self.agent, public_id)
            turn = post_turn(row, self.read(turns.TurnBody))
        if turn.repeated:
            throttle.take_call(self.known)
        row.refresh_from_db()
        opened = handoffs.open_session(row)
        session = turn.message.session
        view = shapes.TurnView(
            message=payloads.message(turn.message, session=session.public_id if session else None),
            bypass=turn.bypass,
            handoff=payloads.handoff(opened) if opened else None,
            context=conversations.unacknowledged(row),
            code="superseded" if turn.superseded else None,
        )
        return Response(view.body(), status=200 if turn.superseded else 201)


class Tickets(AgentView):
    @extend_schema(
        operation_id="mint_ticket",
        summary="Mint a ticket for the chat socket",
        description="For the widget in a visitor's page: one socket, within 60 seconds, no token "
        "in the browser.",
        tags=["conversations"],
        request=turns.TicketBody,
        responses={201: shapes.TicketView, **REFUSALS},
    )
    def post(self, request: Request, public_id: str) -> Response:
        row = conversations.find(self.agent, public_id)
        if not settings.PUBLIC_BASE_URL:
            raise Refused("no_public_url", "The desk has no public address configured.")
        ticket = mint_ticket(row, role=self.read(turns.TicketBody).role)
        return Response(ticket.body(), status=201)


class Handoffs(AgentView):
    @extend_schema(
        operation_id="list_handoffs",
        summary="List the handoffs that you asked for",
        description="Oldest first.",
        tags=["handoffs"],
        parameters=[
            *PAGE_PARAMETERS,
            OpenApiParameter(
                "status",
                str,
                enum=list(SessionStatus),
                description="Only those in this state.",
            ),
            OpenApiParameter("conversation", str, description="A conversation's id, c_…"),
        ],
        responses={200: shapes.HandoffPage, **REFUSALS},
    )
    def get(self, request: Request) -> Response:
        query = bodies.page_query(request)
        status = request.query_params.get("status") or None
        if status is not None and status not in list(SessionStatus):
            problem = f"must be one of {', '.join(SessionStatus)}"
            raise Invalid(
                f"The query can't be used: status {problem}.",
                details={"problems": [{"field": "status", "problem": problem}]},
            )
        named = request.query_params.get("conversation") or None
        row = conversations.find(self.agent, named) if named else None
        page = handoffs.page(
            self.agent, after=query.after, limit=query.limit, status=status, conversation=row
        )
        return Response(page.body())


class OneHandoff(AgentView):
    @extend_schema(
        operation_id="get_handoff",
        summary="Read a handoff",
        description="Its state, every attempt to reach somebody, and the values once somebody "
        "answered.",
        tags=["handoffs"],
        responses={200: shapes.HandoffView, **REFUSALS},
    )
    def get(self, request: Request, public_id: str) -> Response:
        return Response(handoffs.for_agent(self.agent, public_id).body())


class Inbox(AgentView):
    @extend_schema(
        operation_id="list_inbox",
        summary="List the handoffs that were given to you",
        description="By other agents. What you have released is not listed.",
        tags=["inbox"],
        parameters=PAGE_PARAMETERS,
        responses={200: shapes.InboxPage, **REFUSALS},
    )
    def get(self, request: Request) -> Response:
        query = bodies.page_query(request)
        page = hops.page(self.agent, after=query.after, limit=query.limit)
        return Response(page.body())


class Claim(AgentView):
    @extend_schema(
        operation_id="claim",
        summary="Take a handoff that was given to you",
        description="Says that you work on it; a second time changes nothing.",
        tags=["inbox"],
        request=None,
        responses={200: shapes.InboxItem, **REFUSALS},
    )
    def post(self, request: Request, public_id: str) -> Response:
        session = hops.given(self.agent, public_id)
        claim_hop(self.agent, session.pk)
        return Response(hops.item(self.agent, session.pk).body())


class Events(AgentView):
    @extend_schema(
        operation_id="list_events",
        summary="Read the event log",
        description="Everything that happened to your conversations and handoffs, in one order. "
        "Keep the last `id` and ask for what comes after it; /api/v1/wait/events waits for it.",
        tags=["events"],
        parameters=PAGE_PARAMETERS,
        responses={200: shapes.EventPage, **REFUSALS},
    )
    def get(self, request: Request) -> Response:
        query = bodies.page_query(request)
        page = events.page(self.agent, after=query.after, limit=query.limit)
        return Response(page.body())


@extend_schema(exclude=True)
class Nothing(AgentView):
    """Every other address under `/api/`: a program gets words that it can read, not a page."""

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        super().initial(request, *args, **kwargs)
        raise NotFound("There is no such address here.")
