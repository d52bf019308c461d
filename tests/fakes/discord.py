"""Discord, as much of it as the desk meets, with its rules (channels.md 5 and 9).

discord = providers.fakes["discord"]
discord.shown(CHANNEL)                       # what stands in a channel, oldest first
discord.write(thread, "On it!")              # a person writes
providers.deliver(discord.command("reply", {"text": "Hi"}, channel=thread), to=path, client=c)
assert discord.pings == []
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.fakes.discord_answers import error, form_error, refused_content
from tests.fakes.discord_calls import (
    APPLICATION,
    GUILD,
    MIA,
    PUBLIC_KEY,
    command,
    signed,
    snowflake,
)
from tests.fakes.discord_channels import FORUM, TEXT, THREAD, Channel
from tests.fakes.providers import Delivery, FakeAnswer, FakeRequest, UnknownPath

BOT_TOKEN: Final = "MTIzNDU2Nzg5MDEyMzQ1Njc4.GaBcDe.aVerySecretTokenOfABot"
CHANNEL: Final = "2222222222222222222"
OTHER_CHANNEL: Final = "2222222222222222223"
WEBHOOK: Final = "4444444444444444444"
WEBHOOK_TOKEN: Final = "aVery_Secret-WebhookToken"
WEBHOOK_URL: Final = f"https://discord.com/api/webhooks/{WEBHOOK}/{WEBHOOK_TOKEN}"
BOT: Final = {"id": APPLICATION, "username": "Handoff", "bot": True}
_USER_AGENT: Final = re.compile(r"DiscordBot \([^\s,]+, [^\s)]+\)")
_PING: Final = re.compile(r"@(?P<everyone>everyone|here)|<@!?(?P<users>\d+)>|<@&(?P<roles>\d+)>")


class FakeDiscord:
    prefix = "/discord/api/v10"

    def __init__(self) -> None:
        self.channels = {item: Channel(id=item) for item in (CHANNEL, OTHER_CHANNEL)}
        self.webhooks = {WEBHOOK: WEBHOOK_TOKEN}
        self.messages: list[dict[str, Any]] = []
        """All that was posted, with all that came with it, oldest first."""
        self.pings: list[str] = []
        """Everybody whom a message notified."""
        self.commands: dict[str, dict[str, Any]] = {}
        """What is registered in the server, by name."""
        self.shows_content = False
        """Whether the Message Content Intent is on."""
        self.interactions_url = ""
        self.public_key = PUBLIC_KEY
        self.meanwhile: Callable[[str], object] = lambda channel: None
        """Called with each channel whose history is asked for, before it is read."""
        self._nonces: dict[str, dict[str, Any]] = {}
        self._made = 0

    # What a test looks at and does

    def shown(self, channel: str) -> list[str]:
        return [item["content"] for item in self.in_channel(channel)]

    def in_channel(self, channel: str) -> list[dict[str, Any]]:
        return [item for item in self.messages if item["channel_id"] == channel]

    def threads(self) -> list[Channel]:
        return [item for item in self.channels.values() if item.type == THREAD]

    def write(self, channel: str, content: str, **more: Any) -> str:
        """A person (or whoever `author` is) posts; the id of the message."""
        message = {
            "id": self.snowflake(),
            "channel_id": channel,
            "type": 0,
            "author": dict(MIA),
            "content": content,
            "mentions": [],
            "attachments": [],
            **more,
        }
        self.messages.append(message)
        return str(message["id"])

    def snowflake(self) -> str:
        """An id, later than any before it."""
        self._made += 1
        return snowflake(self._made)

    def command(
        self, name: str, options: Mapping[str, Any], *, channel: str, **fields: Any
    ) -> Delivery:
        """A slash command that Mia typed in a channel or a thread, signed."""
        place = self.channels[channel].as_json()
        fields = {"id": self.snowflake(), **fields}
        return signed(command(name, options, channel=place, **fields))

    # What the desk asks

    def handle(self, request: FakeRequest) -> FakeAnswer:
        if not _USER_AGENT.match(request.headers.get("user-agent", "")):
            return error(403, 40333, "internal network error")
        for method, pattern, own_token, answer in self._routes():
            found = re.fullmatch(pattern, request.path)
            if found is None or method != request.method:
                continue
            if not own_token and request.headers.get("authorization") != f"Bot {BOT_TOKEN}":
                return error(401, 0, "401: Unauthorized")
            if request.body and request.headers.get("content-type") != "application/json":
                return error(400, 50035, "Invalid Form Body")
            return answer(request, *found.groups())
        raise UnknownPath

    def _routes(self) -> list[tuple[str, str, bool, Callable[..., FakeAnswer]]]:
        commands = rf"/applications/{APPLICATION}/guilds/(\d+)/commands"
        return [
            ("GET", r"/users/@me", False, lambda _: FakeAnswer(json=BOT)),
            ("GET", r"/applications/@me", False, self._application),
            ("GET", r"/channels/(\d+)", False, self._channel),
            ("GET", r"/channels/(\d+)/messages", False, self._history),
            ("POST", r"/channels/(\d+)/messages", False, self._create),
            ("POST", r"/channels/(\d+)/messages/(\d+)/threads", False, self._start_thread),
            ("POST", commands, False, self._register),
            ("GET", r"/webhooks/(\d+)/([\w-]+)", True, self._webhook),
            ("POST", r"/webhooks/(\d+)/([\w-]+)", True, self._execute),
        ]

    def _application(self, _: FakeRequest) -> FakeAnswer:
        flags = 1 << 19 if self.shows_content else 0
        return FakeAnswer(
            json={
                "id": APPLICATION,
                "name": "Handoff",
                "verify_key": self.public_key,
                "interactions_endpoint_url": self.interactions_url or None,
                "flags": flags,
            }
        )

    def _channel(self, _: FakeRequest, channel: str) -> FakeAnswer:
        return self._unseen(channel) or FakeAnswer(json=self.channels[channel].as_json())

    def _unseen(self, channel: str) -> FakeAnswer | None:
        if channel not in self.channels:
            return error(404, 10003, "Unknown Channel")
        place = self.channels[channel]
        above = self.channels.get(place.parent_id or "", place)
        if not (place.is_seen and above.is_seen):
            return error(403, 50001, "Missing Access")
        return None

    def _history(self, request: FakeRequest, channel: str) -> FakeAnswer:
        self.meanwhile(channel)
        if unseen := self._unseen(channel):
            return unseen
        limit, after = int(request.query.get("limit", 50)), int(request.query.get("after", 0))
        if not 1 <= limit <= 100:
            return form_error("limit", "NUMBER_TYPE_MAX")
        place = self.channels[channel]
        above = self.channels.get(place.parent_id or "", place)
        if not (place.has_history and above.has_history):
            return FakeAnswer(json=[])
        found = [item for item in self.in_channel(channel) if int(item["id"]) > after][:limit]
        return FakeAnswer(json=[self._as_seen(item) for item in reversed(found)])

    def _as_seen(self, message: dict[str, Any]) -> dict[str, Any]:
        """Without the intent the bot reads its own words and those that mention it."""
        mine = message["author"]["id"] == APPLICATION
        named = any(user["id"] == APPLICATION for user in message["mentions"])
        if self.shows_content or mine or named:
            return message
        return {**message, "content": "", "attachments": [], "embeds": [], "components": []}

    def _create(self, request: FakeRequest, channel: str) -> FakeAnswer:
        if unseen := self._unseen(channel):
            return unseen
        place = self.channels[channel]
        if place.type == FORUM:
            return error(400, 40058, "Cannot send a message in a forum channel")
        if not place.may_write:
            return error(403, 50013, "Missing Permissions")
        if place.is_locked:
            return error(403, 160005, "This thread is locked")
        place.is_archived = False
        body = request.json()
        answered = (body.get("message_reference") or {}).get("message_id")
        if answered and not place.has_history:
            return error(400, 160002, "Cannot reply without permission to read message history")
        if answered and answered not in {item["id"] for item in self.in_channel(channel)}:
            if body["message_reference"].get("fail_if_not_exists", True):
                return form_error("message_reference", "MESSAGE_REFERENCE_UNKNOWN_MESSAGE")
            body.pop("message_reference")
        nonce = body.get("nonce")
        if nonce is not None and len(str(nonce)) > 25:
            return form_error("nonce", "NONCE_TYPE_TOO_LONG")
        if nonce is not None and body.get("enforce_nonce") and nonce in self._nonces:
            return FakeAnswer(json=self._nonces[nonce])
        refused = refused_content(body)
        if refused is not None:
            return refused
        message = self._keep(body, channel, BOT, pinged_by_default={"everyone", "users", "roles"})
        if nonce is not None:
            self._nonces[nonce] = message
        return FakeAnswer(json=message)

    def _keep(
        self,
        body: dict[str, Any],
        channel: str,
        author: Mapping[str, Any],
        *,
        pinged_by_default: set[str],
    ) -> dict[str, Any]:
        allowed = body.get("allowed_mentions")
        parsed = pinged_by_default if allowed is None else set(allowed.get("parse", ()))
        for found in _PING.finditer(body["content"]):
            if found.lastgroup in parsed:
                self.pings.append(found.group())
        message = {
            **body,
            "id": self.snowflake(),
            "channel_id": channel,
            "type": 19 if "message_reference" in body else 0,
            "author": dict(author),
            "mentions": [],
            "attachments": [],
        }
        self.messages.append(message)
        return message

    def _start_thread(self, request: FakeRequest, channel: str, message: str) -> FakeAnswer:
        if unseen := self._unseen(channel):
            return unseen
        place, body = self.channels[channel], request.json()
        if place.type != TEXT:
            return error(400, 50024, "Cannot execute action on this channel type")
        if message not in {item["id"] for item in self.in_channel(channel)}:
            return error(404, 10008, "Unknown Message")
        if not place.may_thread:
            return error(403, 50013, "Missing Permissions")
        if message in self.channels:
            return error(400, 160004, "A thread has already been created for this message")
        if not 1 <= len(body.get("name", "").encode("utf-16-le")) // 2 <= 100:
            return form_error("name", "BASE_TYPE_BAD_LENGTH")
        if body.get("auto_archive_duration", 60) not in (60, 1440, 4320, 10080):
            return form_error("auto_archive_duration", "BASE_TYPE_CHOICES")
        thread = Channel(id=message, type=THREAD, name=body["name"], parent_id=channel)
        self.channels[message] = thread
        return FakeAnswer(201, json=thread.as_json())

    def _register(self, request: FakeRequest, guild: str) -> FakeAnswer:
        if guild != GUILD:
            return error(403, 50001, "Missing Access")
        command = request.json()
        texts = [command, *command.get("options", [])]
        for text in texts:
            if not re.fullmatch(r"[a-z0-9_-]{1,32}", text["name"]):
                return form_error("name", "APPLICATION_COMMAND_INVALID_NAME")
            if not 1 <= len(text["description"]) <= 100:
                return form_error("description", "BASE_TYPE_BAD_LENGTH")
        required = [option.get("required", False) for option in command.get("options", [])]
        if required != sorted(required, reverse=True):
            return form_error("options", "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID")
        known = command["name"] in self.commands
        self.commands[command["name"]] = command
        return FakeAnswer(200 if known else 201, json={**command, "id": self.snowflake()})

    def _webhook(self, _: FakeRequest, webhook: str, token: str) -> FakeAnswer:
        known = {"id": webhook, "type": 1, "name": "Support", "channel_id": CHANNEL, "token": token}
        return self._no_webhook(webhook, token) or FakeAnswer(json=known)

    def _no_webhook(self, webhook: str, token: str) -> FakeAnswer | None:
        if webhook not in self.webhooks:
            return error(404, 10015, "Unknown Webhook")
        if token != self.webhooks[webhook]:
            return error(401, 50027, "Invalid Webhook Token")
        return None

    def _execute(self, request: FakeRequest, webhook: str, token: str) -> FakeAnswer:
        if missing := self._no_webhook(webhook, token):
            return missing
        body = request.json()
        if request.query.get("with_components") != "true":
            body.pop("components", None)
        refused = refused_content(body)
        if request.query.get("wait") != "true":
            # what is not saved goes unnoticed, too
            return FakeAnswer(204)
        if refused is not None:
            return refused
        author = {"id": webhook, "username": "Support", "bot": True}
        message = self._keep(body, CHANNEL, author, pinged_by_default={"users"})
        message["webhook_id"] = webhook
        return FakeAnswer(json=message)
