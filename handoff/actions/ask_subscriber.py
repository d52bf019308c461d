"""The route that ships: the question becomes a line in the conversation itself."""

from handoff.actions.events import locked, say
from handoff.actions.writing import writing
from handoff.contract.kinds import Author, SessionStatus
from handoff.contract.route import Reached, Refusal
from handoff.contract.text import one_line
from handoff.models import Conversation, Session


def ask_subscriber(
    question: str, *, agent: str, conversation: str | None, deadline: float
) -> Reached | Refusal:
    """Put the question to the person in the conversation, as a system line in the chat.

    Its recipient reads our own database, so it cannot fail on its own, and one transaction needs
    no `deadline`. It refuses where nobody would read it, or where the answer would not come back
    to the agent.
    """
    if conversation is None:
        return Refusal(
            "This call names no conversation, so there is no person to put the question to. "
            "Nobody was asked."
        )
    with writing():
        found = Conversation.objects.filter(agent__name=agent, public_id=conversation)
        pk = found.values_list("pk", flat=True).first()
        if pk is None:
            return Refusal("This conversation is gone. Nobody was asked.")
        row = locked(pk)
        active = (
            Session.objects.filter(conversation=row, status=SessionStatus.ACTIVE)
            .select_related("channel")
            .first()
        )
        if active is not None:
            return Refusal(
                f"This conversation is handed to {one_line(active.channel.label)}: what the "
                "visitor says goes to them, not to you. Nobody was asked."
            )
        say(row, author=Author.SYSTEM, text=f"{row.agent} asks: {one_line(question)}")
    return Reached("the person in this conversation")
