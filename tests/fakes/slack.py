"""Slack, as much of it as the desk meets, with its rules (channels.md 4 and 9).

providers.fakes["slack"].posts[0].shown     # what people see
providers.fakes["slack"].posts[0].notified  # whom it disturbs by name
slack.say(providers, "It is lost.", thread=post.ts, to=path, client=client)
"""

import dataclasses
import hashlib
import hmac
import itertools
import json
import time
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

from django.test import Client

from tests.fakes.providers import (
    Delivered,
    Delivery,
    FakeAnswer,
    FakeRequest,
    Providers,
    UnknownPath,
)
from tests.fakes.slack_rules import Reading, Refused, check

BOT_TOKEN: Final = "xoxb-1-1-abc"
SIGNING_SECRET: Final = "8f742231b10e8888abcd99yyyzzz85a5"
BOT: Final = "U0BOT"
SCOPES: Final = (
    "chat:write,channels:history,groups:history,im:history,channels:read,groups:read,commands"
)
RETRIES: Final = 3


@dataclasses.dataclass(kw_only=True)
class Room:
    """A channel; the bot was invited when it is a member."""

    id: str
    name: str = "support"
    is_private: bool = False
    is_im: bool = False
    is_member: bool = True
    is_archived: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class Post:
    """A message of the bot's as its readers get it."""

    channel: str
    ts: str
    thread_ts: str | None
    text: str
    """The short form, which notifications show."""
    shown: str
    """Marks replaced by what they show; stars and back-ticks are left as they came."""
    links: dict[str, str]
    """Address by label."""
    notified: tuple[str, ...]
    """Whom it disturbs beyond those who follow the channel."""
    blocks: int


class FakeSlack:
    prefix = "/slack/api"

    def __init__(self) -> None:
        self.scopes = SCOPES
        self.bot_token = BOT_TOKEN
        self.signing_secret = SIGNING_SECRET
        self.rooms = {"C0SUPPORT": Room(id="C0SUPPORT"), "D0MIA": Room(id="D0MIA", is_im=True)}
        self.posts: list[Post] = []
        self.lost_threads: set[str] = set()
        """Roots that were deleted."""
        self._numbers = itertools.count(1)

    def handle(self, request: FakeRequest) -> FakeAnswer:
        """HTTP 200 whatever comes of it, as Slack does."""
        method = request.path.removeprefix("/")
        if request.method != "POST" or method not in _METHODS:
            raise UnknownPath
        try:
            self._login(request)
            body = {"ok": True, **_METHODS[method](self, request)}
        except Refused as refused:
            body = refused.body
        return FakeAnswer(json=body, headers={"X-OAuth-Scopes": self.scopes})

    def _login(self, request: FakeRequest) -> None:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme != "Bearer" or not token:
            raise Refused("not_authed")
        if token != self.bot_token:
            raise Refused("invalid_auth")

    def _needs(self, scope: str) -> None:
        if scope not in self.scopes.split(","):
            raise Refused("missing_scope", needed=scope, provided=self.scopes)

    def auth_test(self, request: FakeRequest) -> dict[str, Any]:
        return {
            "url": "https://shop.slack.com/",
            "team": "Shop",
            "user": "handoff_desk",
            "team_id": "T1",
            "user_id": BOT,
            "bot_id": "B0BOT",
        }

    def conversations_info(self, request: FakeRequest) -> dict[str, Any]:
        room = self.rooms.get(request.form().get("channel", ""))  # it reads no JSON
        if room is None or (room.is_private and not room.is_member):
            raise Refused("channel_not_found")
        kind = "im" if room.is_im else "groups" if room.is_private else "channels"
        self._needs(f"{kind}:read")
        found = dataclasses.asdict(room)
        if room.is_im:  # neither has a name nor counts members
            del found["name"], found["is_member"]
        return {"channel": found}

    def post_message(self, request: FakeRequest) -> dict[str, Any]:
        self._needs("chat:write")
        kind = request.headers.get("content-type", "")
        if not kind.startswith("application/json"):
            raise Refused("invalid_post_type")
        try:
            asked = request.json()
        except ValueError:
            raise Refused("invalid_json") from None
        room = self._room(asked.get("channel"))
        thread = self._thread(room, asked.get("thread_ts"))
        text, blocks = asked.get("text") or "", asked.get("blocks") or []
        check(text, blocks)
        ts = f"{int(time.time())}.{next(self._numbers):06d}"
        reading = Reading(asked)
        post = Post(
            channel=room.id,
            ts=ts,
            thread_ts=thread,
            text=text,
            shown=reading.shown,
            links=reading.links,
            notified=tuple(reading.notified),
            blocks=len(blocks),
        )
        self.posts.append(post)
        message = {"type": "message", "text": text, "ts": ts, "bot_id": "B0BOT", "blocks": blocks}
        said: dict[str, Any] = {"channel": room.id, "ts": ts, "message": message}
        if "charset=utf-8" not in kind:
            said |= {"warning": "missing_charset"}
        return said

    def _room(self, channel: object) -> Room:
        room = self.rooms.get(channel) if isinstance(channel, str) else None
        if room is None or (room.is_private and not room.is_member):
            raise Refused("channel_not_found")
        if room.is_archived:
            raise Refused("is_archived")
        public = "chat:write.public" in self.scopes.split(",")
        if not room.is_member and not room.is_im and not public:
            raise Refused("not_in_channel")
        return room

    def _thread(self, room: Room, ts: object) -> str | None:
        if ts is None:
            return None
        roots = {post.ts for post in self.posts if post.channel == room.id and not post.thread_ts}
        if not isinstance(ts, str) or ts not in roots - self.lost_threads:
            raise Refused("thread_not_found")
        return ts

    def thread(self, ts: str) -> list[Post]:
        """The posts in one thread, its root first."""
        return [post for post in self.posts if ts in (post.ts, post.thread_ts)]

    def event(
        self, text: str, *, channel: str = "C0SUPPORT", thread: str | None = None, **changes: Any
    ) -> dict[str, Any]:
        """A person's message as the Events API posts it; `changes` are the message's own keys."""
        ts = f"{int(time.time())}.{next(self._numbers):06d}"
        escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        message = {
            "type": "message",
            "channel": channel,
            "channel_type": "im" if channel.startswith("D") else "channel",
            "user": "U0MIA",
            "text": escaped,
            "ts": ts,
            "event_ts": ts,
            "team": "T1",
            **({"thread_ts": thread, "parent_user_id": BOT} if thread else {}),
            **changes,
        }
        return {
            "type": "event_callback",
            "token": "old-verification-token",
            "team_id": "T1",
            "api_app_id": "A1",
            "event_id": f"Ev{next(self._numbers):09d}",
            "event_time": int(time.time()),
            "authorizations": [{"team_id": "T1", "user_id": BOT, "is_bot": True}],
            "event": message,
        }

    def delivery(self, body: Mapping[str, Any], **headers: str) -> Delivery:
        """An event, signed."""
        return self.raw(json.dumps(body).encode(), **headers)

    def raw(self, body: bytes, **headers: str) -> Delivery:
        """Whatever bytes, signed."""
        return self._signed(body, "application/json", headers)

    def slash(self, text: str, *, channel: str = "C0SUPPORT", **changes: str) -> Delivery:
        """A command that somebody typed in the open channel, signed."""
        fields = {
            "token": "old-verification-token",
            "team_id": "T1",
            "channel_id": channel,
            "user_id": "U0MIA",
            "user_name": "mia",
            "command": "/release",
            "text": text,
            "response_url": "https://hooks.slack.com/commands/T1/1/abc",
            "trigger_id": f"13345224609.738474920.{next(self._numbers):032x}",
            "api_app_id": "A1",
            **changes,
        }
        kind = "application/x-www-form-urlencoded"
        return self._signed(urlencode(fields).encode(), kind, {})

    def url_verification(self, challenge: str = "c-123") -> Delivery:
        """What Slack posts when an address is entered."""
        body = {"type": "url_verification", "token": "t", "challenge": challenge}
        return self.delivery(body)

    def _signed(self, body: bytes, kind: str, headers: Mapping[str, str]) -> Delivery:
        timestamp = str(int(time.time()))
        return Delivery(
            body=body,
            headers={
                "X-Slack-Request-Timestamp": timestamp,
                "X-Slack-Signature": signature(self.signing_secret, timestamp, body),
                **headers,
            },
            content_type=kind,
        )

    def say(
        self, providers: Providers, event: Mapping[str, Any], *, to: str, client: Client
    ) -> list[Delivered]:
        """Post one event, and again up to three times while it is not acknowledged."""
        answers = [providers.deliver(self.delivery(event), to=to, client=client)]
        for number in range(1, RETRIES + 1):
            if 200 <= answers[-1].status < 300 or answers[-1].headers.get("x-slack-no-retry"):
                break
            again = self.delivery(
                event,
                **{"X-Slack-Retry-Num": str(number), "X-Slack-Retry-Reason": "http_error"},
            )
            answers.append(providers.deliver(again, to=to, client=client))
        return answers


_METHODS: Final = {
    "auth.test": FakeSlack.auth_test,
    "conversations.info": FakeSlack.conversations_info,
    "chat.postMessage": FakeSlack.post_message,
}


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """The header `X-Slack-Signature` of a call."""
    base = b":".join((b"v0", timestamp.encode(), body))
    return "v0=" + hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()
