"""What each kind's provider posts to us, and what somebody posts who is not the provider."""

import dataclasses
import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from handoff.actions.channels import create_channel
from handoff.models import Agent, Channel, Session
from tests.fakes import slack, toy_chat
from tests.fakes.discord_calls import SEED
from tests.fakes.discord_calls import signed as signed_by_discord
from tests.fakes.examples import CONFIGS
from tests.fakes.providers import Delivery, Providers
from tests.fakes.telegram import BOT_TOKEN
from tests.fakes.telegram_chats import MIA
from tests.fakes.whatsapp import APP_SECRET, signature
from tests.transports.whatsapp_samples import SETTINGS as WHATSAPP

SKEW_SECONDS: Final = 300
TELEGRAM_SECRET: Final = "handoff-test_secret"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Provider:
    """How one provider calls us."""

    kind: str
    config: Mapping[str, Any]
    said: Callable[[Providers, Session, str], Delivery]
    """What it posts when the recipient writes to a handoff."""
    sign: Callable[[bytes, float, str], Mapping[str, str]]
    """The headers of a body, at a time, with the right secret ("") or another."""
    proof: str
    """The header that has to be right."""
    clock: str = ""
    """The header with the time that is signed, too; "" for none."""
    covers_body: bool = True
    takes_clocks_ahead: bool = False
    reports: Callable[[Providers, str, str], Delivery] | None = None
    """What it posts about a message of ours: its id, and how far it got."""

    def channel(self, agent: Agent) -> Channel:
        settings = {**self.config, "contact_limit_per_hour": 1000}
        return create_channel(
            agent, kind=self.kind, label="The room", config=settings, actor="test"
        )

    def resigned(self, delivery: Delivery, *, at: float = 0, secret: str = "") -> Delivery:
        """The same bytes with a fresh signature."""
        headers = self.sign(delivery.body, at or time.time(), secret)
        return dataclasses.replace(delivery, headers=headers)


def _telegram_said(providers: Providers, session: Session, text: str) -> Delivery:
    fake = providers.fakes["telegram"]
    number = sent_as(session)
    [post] = [post for post in fake.posts if post.id == number]
    fake.write(text, under=post)
    return fake.delivery(fake.waiting.pop(), secret=TELEGRAM_SECRET)  # type: ignore[no-any-return]


def _telegram_sign(body: bytes, at: float, secret: str) -> Mapping[str, str]:
    return {"X-Telegram-Bot-Api-Secret-Token": secret or TELEGRAM_SECRET}


def _slack_said(providers: Providers, session: Session, text: str) -> Delivery:
    fake = providers.fakes["slack"]
    event = fake.event(text, thread=session.attempts.get().thread_key)
    return fake.delivery(event)  # type: ignore[no-any-return]


def _slack_sign(body: bytes, at: float, secret: str) -> Mapping[str, str]:
    timestamp = str(int(at))
    made = slack.signature(secret or slack.SIGNING_SECRET, timestamp, body)
    return {"X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": made}


def _discord_said(providers: Providers, session: Session, text: str) -> Delivery:
    fake, thread = providers.fakes["discord"], session.attempts.get().thread_key
    if text.startswith("/release"):
        return fake.command("release", {}, channel=thread)  # type: ignore[no-any-return]
    return fake.command("reply", {"text": text}, channel=thread)  # type: ignore[no-any-return]


def _discord_sign(body: bytes, at: float, secret: str) -> Mapping[str, str]:
    seed = secret.encode().ljust(32, b"x")[:32] if secret else SEED
    return signed_by_discord(body, at=at, seed=seed).headers


def _whatsapp_said(providers: Providers, session: Session, text: str) -> Delivery:
    fake = providers.fakes["whatsapp"]
    return fake.delivery(fake.says(text, quotes=sent_as(session)))  # type: ignore[no-any-return]


def _whatsapp_reports(providers: Providers, message: str, progress: str) -> Delivery:
    fake = providers.fakes["whatsapp"]
    return fake.delivery(fake.reports(message, progress))  # type: ignore[no-any-return]


def _whatsapp_sign(body: bytes, at: float, secret: str) -> Mapping[str, str]:
    return {"X-Hub-Signature-256": signature(secret or APP_SECRET, body)}


def _toy_said(providers: Providers, session: Session, text: str) -> Delivery:
    return toy_chat.signed(toy_chat.said(text, thread=session.attempts.get().thread_key))


def _toy_reports(providers: Providers, message: str, progress: str) -> Delivery:
    return toy_chat.signed(toy_chat.event(progress, message=message))


def _toy_sign(body: bytes, at: float, secret: str) -> Mapping[str, str]:
    return toy_chat.signed(body=body, at=at, secret=secret or toy_chat.SECRET).headers


PROVIDERS: Final = (
    Provider(
        kind="toy",
        config={
            "room": "support", "api_key": toy_chat.KEY, "hook_secret": toy_chat.SECRET,
        },
        said=_toy_said, sign=_toy_sign, reports=_toy_reports,
        proof="X-Toy-Signature", clock="X-Toy-Timestamp",
    ),
    Provider(
        kind="telegram",
        config={
            "bot_token": BOT_TOKEN, "chat_id": str(MIA.id), "webhook_secret": TELEGRAM_SECRET,
        },
        said=_telegram_said, sign=_telegram_sign,
        proof="X-Telegram-Bot-Api-Secret-Token", covers_body=False,
    ),
    Provider(
        kind="slack", config=CONFIGS["slack"], said=_slack_said, sign=_slack_sign,
        proof="X-Slack-Signature", clock="X-Slack-Request-Timestamp",
    ),
    Provider(
        kind="discord", config=CONFIGS["discord"], said=_discord_said, sign=_discord_sign,
        proof="X-Signature-Ed25519", clock="X-Signature-Timestamp", takes_clocks_ahead=True,
    ),
    Provider(
        kind="whatsapp", config=WHATSAPP, said=_whatsapp_said, sign=_whatsapp_sign,
        reports=_whatsapp_reports, proof="X-Hub-Signature-256",
    ),
)  # fmt: skip


def sent_as(session: Session) -> str:
    return session.attempts.get().provider_message_id


def forged(provider: Provider, good: Delivery, rng: random.Random) -> tuple[str, Delivery]:
    """What was done to a call that was good, and the call."""
    name = rng.choice(_ways(provider))
    return name, _FORGERIES[name](provider, good, rng)


def _ways(provider: Provider) -> Sequence[str]:
    return [
        name
        for name in _FORGERIES
        if (provider.covers_body or name not in _OF_THE_BODY)
        and (provider.clock or name not in _OF_THE_CLOCK)
    ]


def _with(good: Delivery, **headers: str | None) -> Delivery:
    """With some headers changed; None takes one away."""
    changed = {**good.headers, **{name.replace("_", "-"): text for name, text in headers.items()}}
    kept = {name: text for name, text in changed.items() if text is not None}
    return dataclasses.replace(good, headers=kept)


def _proof(provider: Provider, good: Delivery, text: str | None) -> Delivery:
    return _with(good, **{provider.proof: text})


def _unsigned(provider: Provider, good: Delivery, rng: random.Random) -> Delivery:
    return dataclasses.replace(good, headers={})


def _without_proof(provider: Provider, good: Delivery, rng: random.Random) -> Delivery:
    return _proof(provider, good, None)


def _one_character(provider: Provider, good: Delivery, rng: random.Random) -> Delivery:
    text = good.headers[provider.proof]
    place = rng.randrange(len(text))
    other = rng.choice([c for c in "0123456789abcdefxyz" if c != text[place].lower()])
    return _proof(provider, good, text[:place] + other + text[place + 1 :])


def _cut(provider: Provider, good: Delivery, rng: random.Random) -> Delivery:
    text = good.headers[provider.proof]
    return _proof(provider, good, text[: rng.randrange(len(text))])


def _longer(provider: Provider, good: Delivery, rng: random.Random) -> Delivery:
    more = rng.choice(["0", " 0", "0" * 9_000, ",", ";v0", "\xe9", "=="])
    return _proof(provider, good, good.headers[provider.proof] + more)


def _odd(provider: Provider, good: Delivery, rng: random.Random) -> Delivery:
    odd = ["0", "null", "v0=", "sha256=", "\xe9" * 64, "0" * 128, "[]", "*", "true", "undefined"]
    return _proof(provider, good, rng.choice(odd))


def _another_secret(provider: Provider, good: Delivery, rng: random.Random) -> Delivery:
    return provider.resigned(good, secret=rng.randbytes(8).hex())


def _another_body(provider: Provider, good: Delivery, rng: random.Random) -> Delivery:
    body = bytearray(good.body)
    place = rng.randrange(len(body))
    body[place] = rng.choice([byte for byte in range(32, 127) if byte != body[place]])
    return dataclasses.replace(good, body=bytes(body))


def _added_to(provider: Provider, good: Delivery, rng: random.Random) -> Delivery:
    body = rng.choice([good.body + b" ", b" " + good.body, good.body[:-1], b"", good.body * 2])
    return dataclasses.replace(good, body=body)


def _written_anew(provider: Provider, good: Delivery, rng: random.Random) -> Delivery:
    """The same value in other bytes, as a proxy would write it that reads JSON."""
    body = json.dumps(json.loads(good.body), indent=1).encode()
    return dataclasses.replace(good, body=body)


def _another_time(provider: Provider, good: Delivery, rng: random.Random) -> Delivery:
    seconds = int(good.headers[provider.clock]) + rng.choice([-120, -1, 1, 120])
    return _with(good, **{provider.clock: str(seconds)})


def _odd_time(provider: Provider, good: Delivery, rng: random.Random) -> Delivery:
    odd = ["", "0", "-1", "1e9", "now", "9" * 40, "\xe9", "1796040000.5", "٣"]
    text = rng.choice(odd).encode("utf-8").decode("latin-1")
    return _with(good, **{provider.clock: text})


def _skewed(provider: Provider, good: Delivery, rng: random.Random) -> Delivery:
    """Signed as it should be, at another time than now."""
    off = rng.choice([5, 60, 3_600, 86_400, 10_000_000]) + SKEW_SECONDS
    ahead = not provider.takes_clocks_ahead and rng.random() < 0.5
    return provider.resigned(good, at=time.time() + (off if ahead else -off))


_FORGERIES: Final[dict[str, Callable[[Provider, Delivery, random.Random], Delivery]]] = {
    "unsigned": _unsigned,
    "without the proof": _without_proof,
    "one character of the proof": _one_character,
    "the proof cut": _cut,
    "the proof made longer": _longer,
    "an odd proof": _odd,
    "another secret": _another_secret,
    "one byte of the body": _another_body,
    "more or less of the body": _added_to,
    "the body written anew": _written_anew,
    "another time": _another_time,
    "an odd time": _odd_time,
    "signed at another time": _skewed,
}
_OF_THE_BODY: Final = frozenset(
    {"one byte of the body", "more or less of the body", "the body written anew"}
)
_OF_THE_CLOCK: Final = frozenset({"another time", "an odd time", "signed at another time"})
