"""Test data, made through the product's own actions wherever one exists."""

from typing import Any

from django.contrib.auth.models import User
from factory.declarations import LazyAttribute, Sequence
from factory.django import DjangoModelFactory, Password

from handoff.actions.answer import FormEntries, Received, answer_form
from handoff.actions.calls import Arrival, call_tool
from handoff.actions.channels import create_channel
from handoff.actions.conversations import upsert_conversation
from handoff.actions.tokens import IssuedToken, issue_token
from handoff.contract.kinds import Outcome
from handoff.contract.turns import ConversationBody, Subscriber, ToolCall
from handoff.contract.values import clean_values
from handoff.models import Agent, Channel, Conversation, ReturnLink, Session
from handoff.selectors import payloads
from handoff.selectors.tokens import Caller

SUMMARY = "The visitor asks where order 1234 is; I cannot see orders."
EXPECTED_ACTION = "Look up order 1234 and fill in its status."
FIELDS: list[dict[str, Any]] = [
    {
        "name": "order_status",
        "type": "enum",
        "enum_values": ["processing", "shipped", "delivered", "lost"],
        "label": "Order status",
        "required": True,
    },
    {"name": "tracking_url", "type": "url", "label": "Tracking address"},
    {"name": "eta_date", "type": "date", "label": "Expected on"},
    {"name": "notes", "type": "multiline", "label": "Notes"},
]


class UserFactory(DjangoModelFactory[User]):
    class Meta:
        model = User
        skip_postgeneration_save = True

    username = Sequence(lambda n: f"owner{n}")
    email = LazyAttribute(lambda user: f"{user.username}@example.com")
    password = Password("correct horse battery")


class AgentFactory(DjangoModelFactory[Agent]):
    class Meta:
        model = Agent

    name = Sequence(lambda n: f"agent{n}")
    display_name = Sequence(lambda n: f"Agent {n}")


def owned_agent(owner: User, **fields: Any) -> Agent:
    agent = AgentFactory.create(**fields)
    agent.owners.add(owner)
    return agent


def token_of(agent: Agent) -> IssuedToken:
    return issue_token(agent, actor="test")


def caller(agent: Agent) -> Caller:
    """The agent as an authenticated caller with a token of its own."""
    issued = token_of(agent)
    return Caller(agent=agent, token=issued.row.public_id, token_pk=issued.row.pk)


def inbox_channel(agent: Agent, *, label: str = "Shop team", **config: Any) -> Channel:
    """An owner-inbox channel; its agent gets an owner when it has none."""
    if not agent.owners.exists():
        agent.owners.add(UserFactory.create())
    return create_channel(agent, kind="owner_inbox", label=label, config=config, actor="test")


def email_channel(agent: Agent, *, label: str = "Sales support", **config: Any) -> Channel:
    """An email channel to sales@example.com; give `smtp_url` for a real server."""
    settings = {"to": "sales@example.com", **config}
    return create_channel(agent, kind="email", label=label, config=settings, actor="test")


def sibling_channel(
    agent: Agent, target: Agent, *, label: str = "Order desk", **config: Any
) -> Channel:
    """The permission of one agent to hand to another."""
    settings = {"agent": target.name, **config}
    return create_channel(agent, kind="agent", label=label, config=settings, actor="test")


def conversation(agent: Agent, external_id: str = "visitor-1", **subscriber: Any) -> Conversation:
    body = ConversationBody(external_id=external_id, subscriber=Subscriber(**subscriber))
    return upsert_conversation(agent, body)[0]


def arguments(channel: Channel, **args: Any) -> dict[str, Any]:
    """Good arguments of `handoff_request`, with changes."""
    return {
        "channel_id": channel.pk,
        "summary": SUMMARY,
        "expected_action": EXPECTED_ACTION,
        "expected_return": FIELDS,
        **args,
    }


def requested(
    agent: Agent, channel: Channel, conversation: Conversation | None = None, **args: Any
) -> Session:
    """A session made by `handoff_request` through the real action."""
    call = ToolCall(
        name="handoff_request",
        args=arguments(channel, **args),
        conversation=conversation.public_id if conversation else None,
    )
    answer = call_tool(caller(agent), Arrival(call=call))
    named = answer.result.get("details", answer.result)
    return Session.objects.get(public_id=named["handoff_session_id"])


ENTRIES = {
    "order_status": "shipped",
    "tracking_url": "https://carrier.example/track/abc",
    "eta_date": "2026-06-10",
    "notes": "left\nat the door",
}


def link_of(session: Session) -> ReturnLink:
    """The link that the recipient got."""
    return session.links.get(minted_for="recipient")


def form(session: Session, submission_id: str = "first", **changes: Any) -> FormEntries:
    """A filled return form; `entries` changes single fields."""
    entries = ENTRIES | changes.pop("entries", {})
    return FormEntries(
        **{
            "submission_id": submission_id,
            "entries": entries,
            "outcome": Outcome.RESOLVED,
            "note": "",
            "answered_by": "Mia",
            "returned": clean_values(payloads.fields_of(session), entries),
            **changes,
        }
    )


def answer(session: Session, sent: FormEntries) -> Received:
    """Send the form through the recipient's link."""
    return answer_form(link_of(session), sent)
