"""A channel of any kind whose provider may be out of order, and all that is done to it."""

import dataclasses
import io
import json
import time
from collections.abc import Callable
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from handoff.actions import couriers
from handoff.actions.channels import create_channel, open_transport
from handoff.actions.inbound_apply import apply_due
from handoff.errors import TransportError
from handoff.models import Agent, Channel
from handoff.transports import transport_class
from tests import factories
from tests.api.conftest import Desk
from tests.fakes import discord
from tests.fakes.discord_calls import interaction, signed
from tests.fakes.examples import CONFIGS
from tests.fakes.providers import Delivery, FakeAnswer, FakeRequest, Providers
from tests.flows.overheard import Overheard
from tests.transports.mail_samples import request

PASSWORD: Final = "c0rrect-horse-b4ttery"
OTHER_PASSWORD: Final = "st4ple-of-the-mailb0x"
WEBHOOK: Final = "discord webhook"
KINDS: Final = ("email", *CONFIGS, WEBHOOK)
ECHOES: Final[dict[str, Callable[[str], dict[str, Any]]]] = {
    "telegram": lambda text: {"ok": False, "error_code": 400, "description": text},
    "slack": lambda text: {"ok": False, "error": "invalid_blocks", "errors": [text]},
    "discord": lambda text: {"code": 50035, "message": text},
    "whatsapp": lambda text: {"error": {"code": 100, "message": text, "title": text}},
}


@dataclasses.dataclass
class Echo:
    """A provider that refuses everything and repeats all that it was sent."""

    prefix: str
    shape: Callable[[str], dict[str, Any]]

    def handle(self, request: FakeRequest) -> FakeAnswer:
        sent = (request.headers.get("authorization", ""), request.path, request.body.decode())
        return FakeAnswer(400, json=self.shape(" ".join(sent)))


@dataclasses.dataclass
class Run:
    """One channel, its agent, somebody in the admin, and the ears that hear it all."""

    kind: str
    config: dict[str, Any]
    agent: Agent
    channel: Channel
    desk: Desk
    admin: Client
    providers: Providers
    fake: Any
    """What plays the provider when it is in order; None for mail."""
    ears: Overheard

    @property
    def secrets(self) -> set[str]:
        """What nobody may read anywhere, whole or in the part that opens something."""
        model = transport_class(self.kind).settings_model
        held = {**self.channel.opened_settings(), **self.config}
        found = {str(held[key]) for key in model.secret_keys | model.made_keys if held.get(key)}
        found |= {url.rpartition("/")[2] for url in found if "/webhooks/" in url}
        return found | ({PASSWORD, OTHER_PASSWORD} if self.kind == "email" else set())

    def call(self, method: str) -> None:
        """`send` or `test` of the transport itself, and what it raises or reports."""
        try:
            transport = open_transport(Channel.objects.get(pk=self.channel.pk))
            held = transport.settings
            self.ears.keep("settings", repr(held), str(held), repr(vars(transport)))
            deadline = time.monotonic() + settings.DISPATCH_SECONDS
            if method == "send":
                self.ears.keep("receipt", transport.send(request(), deadline=deadline))
            else:
                self.ears.keep("report", transport.test(deadline=deadline))
        except TransportError as error:
            self.ears.error("a transport", error)

    def hand_over(self) -> str:
        """A request and a line of the visitor's, through the API; the answer's sentence."""
        Channel.objects.filter(pk=self.channel.pk).update(
            healthy=True, unhealthy_since=None, last_error_kind="", contact_limit_per_hour=1000
        )
        visitor = factories.conversation(self.agent, f"visitor {time.monotonic_ns()}")
        answer = self.desk.call(
            "handoff_request", factories.arguments(self.channel), conversation=visitor
        )
        body = {"client_id": "1", "author": "subscriber", "text": "Are you there?"}
        said = self.desk.post(f"conversations/{visitor.public_id}/messages", body)
        couriers.look()
        assert couriers.wait(20)
        self.ears.keep("answer", answer, said.content.decode())
        for path in ("handoffs", "channels", "events"):
            self.ears.keep(f"answer of {path}", self.desk.get(path).content.decode())
        return str(answer["text"])

    def press(self) -> None:
        """Every button of the channel's page, and every page about it."""
        for item in transport_class(self.kind).set_ups:
            self._page("post", "set_up", self.channel.pk, item.key)
        self._page("post", "test", self.channel.pk)
        for name in ("change", "history", "delete"):
            self._page("get", name, self.channel.pk)
        self._page("get", "changelist")
        self.command("send_test", str(self.channel.pk))

    def change(self, **entered: str) -> None:
        """The form of the channel's page, sent with these settings in it."""
        url = reverse("admin:handoff_channel_change", args=[self.channel.pk])
        fields = self.admin.get(url).context["adminform"].form
        form = {
            name: fields[name].value() or ""
            for name in fields.fields
            if not name.startswith("remove_")
        }
        form |= {f"setting_{key}": value for key, value in entered.items()}
        self.ears.page("admin form", self.admin.post(url, form))

    def command(self, *words: str) -> None:
        out = io.StringIO()
        try:
            call_command(*words, stdout=out, stderr=out)
        except CommandError as error:
            self.ears.error(words[0], error)
        self.ears.keep(words[0], out.getvalue())

    def new_channel(self, config: Any) -> None:
        text = config if isinstance(config, str) else json.dumps(config)
        name = self.agent.name
        self.command("new_channel", f"--agent={name}", f"--kind={self.kind}", "--label=x",
                     f"--config={text}")  # fmt: skip

    def hear(self) -> None:
        """Calls of the provider to our webhook: believed, forged, unreadable and for nobody."""
        for delivery in _deliveries(self):
            to = f"/hooks/{self.kind}/{self.channel.uuid}/"
            answer = self.providers.deliver(delivery, to=to, client=Client())
            self.ears.keep("hook", answer.status, answer.headers, answer.body.decode())
        apply_due()

    def _page(self, method: str, name: str, *args: object) -> None:
        url = reverse(f"admin:handoff_channel_{name}", args=args)
        self.ears.page(f"admin {name}", getattr(self.admin, method)(url))


def config_of(kind: str, smtp_url: str) -> dict[str, Any]:
    if kind == "email":
        imap = f"imap://desk:{OTHER_PASSWORD}@127.0.0.1:9"
        return {
            "to": "jo@support.example",
            "smtp_url": smtp_url,
            "inbound": "imap",
            "inbound_domain": "desk.example.org",
            "imap_url": imap,
        }
    return {"webhook_url": discord.WEBHOOK_URL} if kind == WEBHOOK else CONFIGS[kind]


def begun(kind: str, config: dict[str, Any], providers: Providers, ears: Overheard) -> Run:
    """A new desk with the channel on it."""
    agent = factories.AgentFactory.create()
    channel = create_channel(agent, kind=kind, label="Sales", config=config, actor="test")
    admin = Client(raise_request_exception=False)
    admin.force_login(User.objects.create_superuser("boss"))
    return Run(
        kind, config, agent, channel, Desk(agent), admin, providers, providers.fakes.get(kind), ears
    )


def _deliveries(run: Run) -> list[Delivery]:
    held, fake = run.channel.opened_settings(), run.fake
    unreadable, look = Delivery(body=b"\xff{"), Delivery(method="GET")
    match run.kind:
        case "telegram":
            name, secret = "X-Telegram-Bot-Api-Secret-Token", held["webhook_secret"]
            good = Delivery(body=b'{"update_id": 1}', headers={name: secret})
            bad = dataclasses.replace(good, headers={name: secret[:-1]})
        case "slack":
            good = fake.delivery(fake.event("It left."))
            bad = dataclasses.replace(good, body=good.body + b" ")
        case "discord":
            good = signed(interaction())
            bad = dataclasses.replace(good, body=good.body + b" ")
        case "whatsapp":
            good, bad = (fake.verification(held["verify_token"][:end]) for end in (None, -1))
            return [good, bad, fake.delivery(fake.says("It left.")), unreadable, look]
        case _:
            return [unreadable, look]
    return [good, bad, unreadable, look]
