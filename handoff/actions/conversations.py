"""Creates conversations and keeps what the agent says of their subscriber."""

from django.db import IntegrityError

from handoff.actions.events import locked
from handoff.actions.writing import writing
from handoff.contract.turns import ConversationBody
from handoff.models import Agent, Conversation


def upsert_conversation(agent: Agent, body: ConversationBody) -> tuple[Conversation, bool]:
    """The agent's conversation of that external id, and whether it is new.

    What the body says of the subscriber replaces what was known; what it leaves out stays.
    """
    try:
        with writing():
            row, created = Conversation.objects.get_or_create(
                agent=agent, external_id=body.external_id
            )
    except IntegrityError:  # a twin committed between our look and our insert
        row, created = Conversation.objects.get(agent=agent, external_id=body.external_id), False
    said = {
        f"subscriber_{key}": value
        for key, value in body.subscriber.model_dump(exclude_none=True).items()
    }
    changed = {key: value for key, value in said.items() if getattr(row, key) != value}
    if changed:
        with writing():
            Conversation.objects.filter(pk=locked(row.pk).pk).update(**changed)
            for key, value in changed.items():
                setattr(row, key, value)
    return row, created
