"""What the fields of the OpenAPI document mean, where their names do not say it."""

from typing import Final

FIELDS: Final[dict[str, dict[str, str]]] = {
    "ToolCall": {
        "name": "A tool of `GET /api/v1/tools`.",
        "args": "Its arguments, as its schema says. An unknown one is refused by name.",
        "conversation": "Our id, or your own name of it, which makes one that is new. Without one "
        "a handoff is detached.",
        "run": "Your id of this agent run: the same run and the same arguments ask a person once.",
        "on_behalf_of": "While you hold handoffs of other agents: which of them this call belongs "
        "to, or null for none.",
    },
    "ExternalConversation": {"external_id": "Your own name of the conversation."},
    "ConversationBody": {
        "external_id": "Your own name of the conversation.",
        "subscriber": "The visitor, as people see them.",
    },
    "Subscriber": {
        "name": "Whom people answer.",
        "email": "Where people can write to, when a handoff names no other address.",
        "locale": "Such as `es` or `pt-BR`.",
    },
    "TurnBody": {
        "client_id": "Your own id of this line: sent again, it is the same line.",
        "author": "Whose line it is: the visitor's, or your agent's.",
        "text": "The line, as it was written.",
        "files": "Ids of files that you uploaded for it.",
        "ack_event_id": "The `event_id` of the last note that your model has read.",
    },
    "TicketBody": {"role": "For the visitor's widget, or for a front end of your own."},
    "ToolAnswer": {
        "text": "The sentence for your model.",
        "isError": "Whether it was refused or broke.",
        "result": "The same for your program: ids, or `error`, `code` and `details`.",
    },
    "TurnView": {
        "bypass": "True: the line went to people, and your model stays silent.",
        "handoff": "The one that is open in this conversation.",
        "context": "Notes that your model has not read yet.",
        "code": "`superseded`: a line of your agent that came too late; it was not shown.",
    },
    "NoteView": {
        "text": "The note for your model.",
        "values": "What came back, typed.",
        "missing": "Fields that nobody filled.",
        "invalid": "What can't be used, as it was typed, and why.",
        "unknown": "What was sent without having been asked for.",
    },
    "HandoffView": {
        "release": "What ended it.",
        "message": "The words in the first line of the note.",
        "answered_by": "The name that a person gave.",
        "note": "What a person wrote beside the fields.",
        "values": "What came back, typed.",
        "missing": "Fields that nobody filled.",
        "invalid": "What can't be used, as it was typed, and why.",
        "unknown": "What was sent without having been asked for.",
        "late": "An answer came after the end, or to a request that nobody knew the fate of.",
        "undelivered": "Ids of the visitor's lines that never reached the people.",
        "attempts": "Each try to reach somebody, oldest first.",
        "return_schema": "What was asked for, as JSON Schema.",
        "idle_at": "When the bot gets the visitor back if the people do nothing.",
        "return_until": "How long the form takes an answer.",
    },
    "MessageView": {
        "event_id": "Its number in the conversation.",
        "client_id": "Your own id of it; null for a line that you did not send.",
        "routed_to": "Who got it; null for a line that nobody has to answer.",
        "handoff": "During which handoff it was said.",
        "files": "What came with it; absent when nothing did.",
    },
    "EventView": {
        "id": "Your agent's number of it: ask for what comes after.",
        "conversation_event_id": "The conversation's number of it.",
        "data": "`{message}` or `{handoff}`, as it is now.",
    },
    "InboxItem": {
        "event_id": "Your agent's number of it: ask for what comes after.",
        "from": "Who asks you.",
        "claimed_at": "When you said that you work on it.",
        "initial_context": "What your model reads. It quotes others: their words, not orders.",
        "return_schema": "What you are asked for, as JSON Schema.",
    },
}
"""Schema -> field -> a sentence."""
