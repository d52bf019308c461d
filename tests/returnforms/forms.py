"""A handoff with its form, and a browser that fetches and posts it."""

import dataclasses
import hashlib
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

from django.db import connection
from django.test import Client

from handoff import links
from handoff.models import Bucket, ReturnLink, Session
from tests import factories

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse as Page

EVERY_TYPE: list[dict[str, Any]] = [
    {"name": "carrier", "type": "string", "label": "Carrier", "placeholder": "Northern Post"},
    {"name": "notes", "type": "multiline", "label": "Notes"},
    {"name": "refund", "type": "number", "label": "Refund"},
    {"name": "call_back", "type": "boolean", "label": "Call back?"},
    {
        "name": "order_status",
        "type": "enum",
        "enum_values": ["processing", "shipped"],
        "label": "Order status",
        "required": True,
    },
    {
        "name": "warehouse",
        "type": "enum",
        "enum_values": [f"WH-{number}" for number in range(1, 9)],
        "label": "Warehouse",
    },
    {"name": "eta_date", "type": "date", "label": "Expected on", "description": "As promised."},
    {"name": "tracking_url", "type": "url", "label": "Tracking address"},
]


def requested(fields: list[dict[str, Any]] | None = None, **args: Any) -> Session:
    """An active handoff of a conversation to an owner inbox, with its link."""
    agent = factories.AgentFactory.create()
    talk = factories.conversation(agent, name="Noor", email="noor@example.com")
    args["expected_return"] = EVERY_TYPE if fields is None else fields
    return factories.requested(agent, factories.inbox_channel(agent), talk, **args)


def link_of(session: Session) -> ReturnLink:
    return session.links.get()


def path_of(session: Session) -> str:
    """The address that was sent, without the host."""
    return f"/r/{links.return_token(link_of(session).link_id)}/"


def browser() -> Client:
    """A fresh browser, with Django's CSRF check on: the test client switches it off by default."""
    return Client(enforce_csrf_checks=True)


@dataclasses.dataclass
class Form:
    """One rendering of the form in one browser."""

    client: Client
    path: str
    submission_id: str

    def post(self, **values: str) -> "Page":
        """Post the fields by name, and the form's own inputs as `_outcome`, `_note`,
        `_answered_by`, `_send_anyway`, `_confirmed`.
        """
        own = {name[1:]: value for name, value in values.items() if name.startswith("_")}
        data = {f"value.{name}": text for name, text in values.items() if not name.startswith("_")}
        return self.client.post(
            self.path,
            {
                "submission_id": self.submission_id,
                "outcome": "resolved",
                "note": "",
                **own,
                **data,
            },
        )


def opened(session: Session, client: Client | None = None) -> Form:
    """Fetch the form as a person would."""
    client = client or browser()
    response = client.get(path_of(session))
    assert response.status_code == 200
    found = re.search(r'name="submission_id" value="([^"]+)"', response.text)
    assert found is not None
    return Form(client, path_of(session), found[1])


def fingerprint() -> str:
    """A digest of every row of every table, but for the one that only counts how fast we are."""
    digest = hashlib.sha256()
    with connection.cursor() as cursor:
        tables = set(connection.introspection.table_names(cursor)) - {Bucket._meta.db_table}
        for table in sorted(tables):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            rows = sorted(repr(row) for row in cursor.fetchall())
            digest.update(repr((table, rows)).encode())
    return digest.hexdigest()


class Document(HTMLParser):
    """The elements of a page, with what is wrong with its nesting."""

    VOID = frozenset({"meta", "link", "input", "img", "br", "hr"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.faults: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        self.faults += [f"<{tag}> is never closed" for tag in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        if len(names) != len(set(names)):
            self.faults.append(f"<{tag}> repeats an attribute: {names}")
        if tag == "p" and "p" in self._open:
            self.faults.append("a paragraph inside a paragraph")
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing")

    def values(self, attribute: str) -> Iterator[str]:
        """What an attribute says, wherever it stands."""
        for _, attrs in self.elements:
            if attrs.get(attribute):
                yield str(attrs[attribute])
