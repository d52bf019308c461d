"""Examples of the OpenAPI document: one story, from a visitor's line to the values for it."""

import json
from typing import Any, Final

type Body = dict[str, Any]

CONVERSATION_ID: Final = "c_ehwa7s2z3nmma6beal7ozdttoe"
HANDOFF_ID: Final = "hs_5rhupq5bmtg5sptfjj3e2roq5m"
GIVEN_ID: Final = "hs_e7eoobz5dr7ahtlelsn64rvunq"
_ATTEMPT_ID: Final = "he_sparpoubtlryzbhdelndb7s6t4"
_NOTE: Final = (
    "[Bot resumed — the recipient (Sales support) has handed control back. Outcome: resolved. "
    "Looked up order 1234.]\nReturned data:\n  • order_status: shipped\n  • eta_date: 2026-12-03"
)
_RETURN_SCHEMA: Final[Body] = {
    "type": "object",
    "properties": {
        "order_status": {"type": "string", "enum": ["shipped", "delayed"]},
        "eta_date": {"type": "string", "format": "date"},
    },
    "required": ["order_status"],
}
_ACTIVE: Final[Body] = {
    "id": HANDOFF_ID,
    "status": "active",
    "release": None,
    "outcome": None,
    "message": "",
    "answered_by": "",
    "note": "",
    "values": {},
    "missing": [],
    "invalid": [],
    "unknown": {},
    "late": False,
    "undelivered": [],
    "channel_id": 1,
    "channel_kind": "email",
    "channel_label": "Sales support",
    "conversation": CONVERSATION_ID,
    "attempts": [
        {
            "id": _ATTEMPT_ID,
            "status": "accepted",
            "delivery": "delivered",
            "at": "2026-11-30T10:00:02.140Z",
        }
    ],
    "return_schema": _RETURN_SCHEMA,
    "idle_at": "2026-11-30T10:30:02.310Z",
    "return_until": "2026-12-03T10:00:02.100Z",
    "created_at": "2026-11-30T10:00:02.090Z",
    "released_at": None,
}
_VALUES: Final[Body] = {"order_status": "shipped", "eta_date": "2026-12-03"}
_RELEASED: Final[Body] = {
    **_ACTIVE,
    "status": "released",
    "release": "form",
    "outcome": "resolved",
    "message": "Looked up order 1234.",
    "answered_by": "Mia",
    "values": _VALUES,
    "idle_at": None,
    "released_at": "2026-11-30T10:12:40.005Z",
}
_CONVERSATION: Final[Body] = {
    "id": CONVERSATION_ID,
    "external_id": "visitor-77",
    "subscriber": {"name": "Ana", "email": "ana@example.org", "locale": "es"},
    "handoff": None,
}
_LINE: Final[Body] = {
    "id": "m_ci45l2es6kywie253qknzrcfoe",
    "event_id": 1,
    "client_id": "line-1",
    "author": "subscriber",
    "name": "Ana",
    "text": "Where is order 1234?",
    "routed_to": "agent",
    "handoff": None,
    "at": "2026-11-30T10:00:00.207Z",
}
_THANKS: Final[Body] = {
    **_LINE,
    "id": "m_kpq4mn7ja7sfa5zvpp42pwwxfq",
    "event_id": 8,
    "client_id": "line-3",
    "text": "Any news?",
    "at": "2026-11-30T10:13:01.357Z",
}
_ROUTED: Final[Body] = {
    **_LINE,
    "id": "m_m5fdmvbqkdq3x4vwpdkltbqvmi",
    "event_id": 4,
    "client_id": "line-2",
    "text": "It is urgent.",
    "routed_to": "recipient",
    "handoff": HANDOFF_ID,
    "at": "2026-11-30T10:01:10.275Z",
}
_ENDED: Final[Body] = {
    "id": 7,
    "conversation_event_id": 7,
    "type": "handoff.released",
    "at": "2026-11-30T10:12:40.008Z",
    "conversation": CONVERSATION_ID,
    "handoff": HANDOFF_ID,
    "data": {"handoff": _RELEASED},
}
_RESUMED: Final[Body] = {
    "event_id": 7,
    "type": "handoff.released",
    "handoff": HANDOFF_ID,
    "text": _NOTE,
    "values": _VALUES,
    "missing": [],
    "invalid": [],
    "unknown": {},
}
_GIVEN: Final[Body] = {
    "id": GIVEN_ID,
    "event_id": 9,
    "from": {"agent": "shop"},
    "status": "active",
    "claimed_at": None,
    "initial_context": f"[HANDOFF {GIVEN_ID} — from Shop]\nExpected action: Look up order 1234.",
    "return_schema": _RETURN_SCHEMA,
    "at": "2026-11-30T10:00:02.417Z",
}
_ASKED: Final[Body] = {
    "name": "handoff_request",
    "conversation": {"external_id": "visitor-77"},
    "args": {
        "channel_id": 1,
        "summary": "The visitor asks where order 1234 is; I cannot see orders.",
        "expected_action": "Look up order 1234 and fill in its status.",
        "expected_return": [
            {
                "name": "order_status",
                "type": "enum",
                "enum_values": ["shipped", "delayed"],
                "required": True,
            },
            {"name": "eta_date", "type": "date"},
        ],
    },
}
_HANDED: Final[Body] = {
    "text": "Handed to Sales support by email; they were notified, and usually reply within "
    "1 business day. Until this handoff is released the visitor's messages go to them, not to "
    "you. After that you get a note that begins with [Bot resumed, and the visitor is yours "
    "again.",
    "isError": False,
    "result": {
        "ok": True,
        "action": "handoff_session_started",
        "channel_kind": "email",
        "channel_id": 1,
        "channel_label": "Sales support",
        "channel_message_id": f"<h.{HANDOFF_ID}.1@desk.example.org>",
        "estimated_response": "within 1 business day",
        "handoff_event_id": _ATTEMPT_ID,
        "handoff_session_id": HANDOFF_ID,
        "human_notified": True,
    },
}
_FILE: Final[Body] = {
    "id": "f_ci45l2es6kywie253qknzrcfoe",
    "name": "invoice.pdf",
    "type": "application/pdf",
    "size": 48213,
    "kept": True,
}
_CONTENT: Final = "%PDF-1.7 …"
_TICKET: Final = "4fcsdjv7bx5y27lsjy6mn3apte.KCdUiat3quLRCt-ZPvU5AJsRnFFzyvlKyAsbwoI4A2g"
_TOOL: Final[Body] = {
    "name": "ask_a_person",
    "title": "Ask a person",
    "description": "The last resort: puts a question to whoever answers for this desk.",
    "inputSchema": {
        "type": "object",
        "properties": {"question": {"type": "string", "minLength": 10, "maxLength": 1000}},
        "required": ["question"],
        "additionalProperties": False,
    },
}

REQUESTS: Final[dict[str, Any]] = {
    "call_tool": _ASKED,
    "call_tool_openbot": {
        "name": "ask_a_person",
        "args": {"question": "May I refund order 1234?"},
        "run": "run-1",
    },
    "upsert_conversation": {
        "external_id": "visitor-77",
        "subscriber": _CONVERSATION["subscriber"],
    },
    "post_turn": {"client_id": "line-3", "author": "subscriber", "text": "Any news?"},
    "mint_ticket": {"role": "subscriber"},
    "upload_file": _CONTENT,
    "upload_file_as_sibling": _CONTENT,
}
"""Operation -> the body of a request."""


def _page(*items: Body, after: int) -> Body:
    return {"data": list(items), "next_after": after, "has_more": False}


ANSWERS: Final[dict[str, dict[int, Any]]] = {
    "me": {
        200: {
            "agent": {"name": "shop", "display_name": "Shop"},
            "limits": {
                "call_bytes": 262144,
                "call_seconds": 20.0,
                "attempt_seconds": 10.0,
                "turn_text_max": 8000,
                "page_max": 200,
                "wait_seconds_max": 25,
                "handoffs_per_minute": 30,
                "turns_per_second": 20,
                "calls_per_minute": 600,
            },
        }
    },
    "list_channels": {
        200: {
            "data": [
                {
                    "id": 1,
                    "kind": "email",
                    "label": "Sales support",
                    "available": True,
                    "estimated_response": "within 1 business day",
                }
            ]
        }
    },
    "list_tools": {200: {"tools": [_TOOL]}},
    "call_tool": {200: _HANDED},
    "call_tool_openbot": {
        200: {
            "text": "Refused. This call names no conversation, so there is no person to put the "
            "question to. Nobody was asked.",
            "isError": True,
            "result": {
                "error": "This call names no conversation, so there is no person to put the "
                "question to. Nobody was asked.",
                "code": "route_refused",
                "details": {},
            },
        }
    },
    "upsert_conversation": {200: _CONVERSATION, 201: _CONVERSATION},
    "get_conversation": {200: {**_CONVERSATION, "handoff": _ACTIVE}},
    "list_messages": {200: _page(_LINE, _ROUTED, after=4)},
    "post_turn": {
        200: {
            "message": {**_ROUTED, "author": "agent", "name": "Shop", "routed_to": None},
            "bypass": True,
            "handoff": _ACTIVE,
            "context": [],
            "code": "superseded",
        },
        201: {"message": _THANKS, "bypass": False, "handoff": None, "context": [_RESUMED]},
    },
    "mint_ticket": {
        201: {
            "ticket": _TICKET,
            "url": f"wss://desk.example.org/ws/chat?ticket={_TICKET}",
            "expires_at": "2026-11-30T10:01:00.000Z",
        }
    },
    "upload_file": {201: _FILE},
    "upload_file_as_sibling": {201: _FILE},
    "get_file": {200: _CONTENT},
    "list_handoffs": {200: _page(_RELEASED, after=1)},
    "get_handoff": {200: _RELEASED},
    "list_inbox": {200: _page(_GIVEN, after=9)},
    "claim": {200: {**_GIVEN, "claimed_at": "2026-11-30T10:00:05.000Z"}},
    "list_events": {200: _page(_ENDED, after=7)},
    "wait_events": {200: _page(_ENDED, after=7)},
    "wait_handoff": {200: _RELEASED},
    "stream_events": {
        200: {"id": "7", "event": "handoff.released", "data": json.dumps(_ENDED)},
    },
    "healthz": {200: {"status": "ok"}},
    "readyz": {200: {"status": "ok"}, 503: {"status": "no database"}},
}
"""Operation -> status -> the body of an answer."""


def _unusable(said: str, field: str, problem: str) -> Body:
    problems = [{"field": field, "problem": problem}]
    return {"error": said, "code": "invalid_arguments", "details": {"problems": problems}}


PROBLEMS: Final[dict[int, Body]] = {
    400: _unusable(
        "The query can't be used: after must be a whole number.", "after", "must be a whole number"
    ),
    401: {"error": "Not authorised."},
    403: {"error": "That token is not for this Bot."},
    404: {"error": "There is no such handoff.", "code": "not_found"},
    405: {"error": 'Method "PUT" not allowed.', "code": "method_not_allowed"},
    409: {
        "error": "This client_id was used for another text. Use a new one for each turn.",
        "code": "idempotency_reused",
        "details": {"problems": [{"field": "client_id", "problem": "was used before"}]},
    },
    413: {"error": "The call is too large.", "code": "too_large"},
    429: {
        "error": "Too many calls. This one did nothing; call again in 2 seconds.",
        "code": "too_fast",
    },
    500: {"error": "The desk failed.", "code": "desk_fault"},
    503: {
        "error": "This call asked nobody. Do not say that it did.",
        "code": "desk_unavailable",
    },
}
"""Status -> what is said instead of an answer."""
UNRECORDED: Final[Body] = {
    "error": "A message may have reached the person, but the conversation was not handed over. "
    "Do not promise an answer.",
    "code": "outcome_unrecorded",
}
"""The other 503 of a tool call: the database was lost in the middle."""
