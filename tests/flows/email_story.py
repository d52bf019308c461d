"""A shop's desk with a mail channel, its mail server and its mailbox, and what its people do."""

import dataclasses
import json
import uuid
from collections.abc import Mapping
from email.message import EmailMessage
from io import StringIO
from types import MappingProxyType
from typing import Any

from django.core.management import call_command
from django.db.models.functions import Now

from handoff.actions import couriers
from handoff.models import Agent, Channel, Conversation, InboundEvent, Session
from tests import factories
from tests.api.conftest import Desk
from tests.fakes.imap import ImapServer
from tests.fakes.smtp import Received, SmtpServer

MIA = "Mia Berg <mia@shop.example>"


@dataclasses.dataclass
class Story:
    """A shop's agent, a visitor called Ana, and Mia, who reads the mail to team@shop.example."""

    desk: Desk
    channel: Channel
    conversation: Conversation
    smtp: SmtpServer
    mailbox: ImapServer

    def ask(self, **args: Any) -> dict[str, Any]:
        return self.desk.call(
            "handoff_request",
            factories.arguments(self.channel, **args),
            conversation=self.conversation,
        )

    def mails(self) -> list[Received]:
        """What the mail server got, once all that is due was sent."""
        couriers.look()
        assert couriers.wait(10)
        return self.smtp.messages

    def reply(
        self,
        said: str,
        headers: Mapping[str, str] = MappingProxyType({}),
        *,
        to: Received | None = None,
    ) -> EmailMessage:
        """Mia's answer to a mail, the newest unless told otherwise, as a mail program writes it."""
        asked = (to or self.mails()[-1]).message
        made = EmailMessage()
        values = {
            "From": MIA,
            "To": str(asked["Reply-To"] or asked["From"]),
            "Subject": f"Re: {asked['Subject']}",
            "Message-ID": f"<{uuid.uuid4().hex}@shop.example>",
            "In-Reply-To": str(asked["Message-ID"]),
            "References": str(asked["References"]),
        }
        for name, value in {**values, **headers}.items():
            if value:
                made[name] = value
        made.set_content(said)
        return made

    def arrives(self, mail: EmailMessage | bytes) -> list[str]:
        """A mail comes into the mailbox, which is read, and it is applied: what became of it."""
        before = set(InboundEvent.objects.values_list("pk", flat=True))
        self.mailbox.put(mail if isinstance(mail, bytes) else mail.as_bytes())
        self.look()
        rows = InboundEvent.objects.exclude(pk__in=before).exclude(body="").order_by("pk")
        return list(rows.values_list("outcome", flat=True))

    def look(self) -> None:
        Channel.objects.update(poll_at=Now())
        call_command("poll_mailbox", "--once", stdout=StringIO())

    def ana_says(self, text: str) -> dict[str, Any]:
        body = {"client_id": uuid.uuid4().hex, "author": "subscriber", "text": text}
        reply = self.desk.post(f"conversations/{self.conversation.public_id}/messages", body)
        assert reply.status_code in (200, 201)
        said: dict[str, Any] = reply.json()["message"]
        return said

    def chat(self) -> list[tuple[str, str]]:
        """Author and text of each line that the visitor's chat shows."""
        found = self.desk.get(f"conversations/{self.conversation.public_id}/messages").json()
        return [(row["author"], row["text"]) for row in found["data"]]

    def session(self) -> Session:
        return Session.objects.get(conversation=self.conversation)


def quoted(mail: Received, wrote: str) -> str:
    """The text of a mail as it stands below an answer."""
    return "\n".join([wrote, "", *(f"> {line}".rstrip() for line in mail.text.split("\n"))])


def made(agent: Agent, smtp: SmtpServer, mailbox: ImapServer, **config: Any) -> Story:
    """Made on the command line, and looked into once."""
    settings = {
        "to": "team@shop.example",
        "from_email": "handoff@desk.example.org",
        "smtp_url": smtp.url,
        "inbound": "imap",
        "inbound_domain": "in.desk.example.org",
        "imap_url": mailbox.url,
        **config,
    }
    out = StringIO()
    call_command(
        "new_channel", "--agent", agent.name, "--kind", "email", "--label", "Shop team",
        "--config", json.dumps(settings), "--json", stdout=out,
    )  # fmt: skip
    channel = Channel.objects.get(pk=json.loads(out.getvalue())["channel_id"])
    conversation = factories.conversation(agent, uuid.uuid4().hex, name="Ana")
    story = Story(Desk(agent), channel, conversation, smtp, mailbox)
    if settings["inbound"] == "imap":
        story.look()
    return story
