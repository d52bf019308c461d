"""Telegram, as much of its Bot API as the desk meets, with its rules (channels.md 3 and 9).

telegram = providers.fakes["telegram"]
telegram.posts[0].text                              # what people read
telegram.write("It is lost.", under=telegram.posts[0])   # the update waits, as at Telegram
telegram.deliver(providers, client=client)          # posts what waits to the address that was set
"""

import dataclasses
import itertools
import json
import re
import time
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit

from django.test import Client

from tests.fakes.providers import (
    Delivered,
    Delivery,
    FakeAnswer,
    FakeRequest,
    Providers,
    UnknownPath,
)
from tests.fakes.telegram_chats import (
    GROUPS,
    MIA,
    Person,
    Post,
    Refused,
    Room,
    check_webhook,
    read_buttons,
    read_text,
)

BOT_TOKEN: Final = "7654321:AAE-handoff_test_token_of_the_fake_12345"
BOT: Final = Person(id=7654321, first_name="Handoff", is_bot=True, username="handoff_desk_bot")
GROUP: Final = -100200300
SUPERGROUP: Final = -1001234567890
_PATH: Final = re.compile(r"/bot(?P<token>[^/]*)/(?P<method>\w+)")
_TOKEN: Final = re.compile(r"[1-9]\d{0,15}:[\w-]{20,70}", re.ASCII)


@dataclasses.dataclass(kw_only=True)
class Webhook:
    url: str = ""
    secret_token: str = ""
    last_error: str = ""


class FakeTelegram:
    prefix = "/telegram"

    def __init__(self) -> None:
        self.token = BOT_TOKEN
        self.reads_all = False
        """Group Privacy is off."""
        self.rooms = {
            MIA.id: Room(id=MIA.id, first_name=MIA.first_name),
            GROUP: Room(id=GROUP, type="group", title="Support"),
            SUPERGROUP: Room(id=SUPERGROUP, type="supergroup", title="Support crew"),
        }
        self.posts: list[Post] = []
        self.webhook = Webhook()
        self.waiting: list[dict[str, Any]] = []
        """Updates that nobody has taken yet, oldest first."""
        self.rival = False
        """Another program asks for the updates, too."""
        self.takes_http = False
        """As a server of one's own does when it is started with `--local`."""
        self._updates = itertools.count(700_000_001)

    def handle(self, request: FakeRequest) -> FakeAnswer:
        path = _PATH.fullmatch(request.path)
        if path is None or path["method"] not in _METHODS:
            raise UnknownPath
        try:
            self._login(path["token"])
            asked = request.json() if request.body else {}
            result = _METHODS[path["method"]](self, asked, request.at)
        except Refused as refused:
            said = {"ok": False, "error_code": refused.code, "description": refused.words}
            more = {"parameters": refused.parameters} if refused.parameters else {}
            return FakeAnswer(refused.code, json=said | more)
        return FakeAnswer(json={"ok": True, "result": result})

    def _login(self, token: str) -> None:
        if not _TOKEN.fullmatch(token):
            raise Refused(404, "Not Found")
        if token != self.token:
            raise Refused(401, "Unauthorized")

    def get_me(self, asked: dict[str, Any], at: float) -> dict[str, Any]:
        rights = {"can_join_groups": True, "can_read_all_group_messages": self.reads_all}
        return {**BOT.as_json(), **rights, "supports_inline_queries": False}

    def get_chat(self, asked: dict[str, Any], at: float) -> dict[str, Any]:
        room = self._room(asked.get("chat_id"))
        room.enter()
        return {**room.as_json(), "accent_color_id": 1, "max_reaction_count": 11}

    def _room(self, chat_id: object) -> Room:
        for room in self.rooms.values():
            if str(chat_id) in (str(room.id), f"@{room.username}"):
                return room
        raise Refused(400, "Bad Request: chat not found")

    def send_message(self, asked: dict[str, Any], at: float) -> dict[str, Any]:
        buttons = read_buttons(asked)
        text, entities = read_text(asked)
        room = self._room(asked.get("chat_id"))
        room.enter()
        if room.may_not:
            raise Refused(400, f"Bad Request: {room.may_not}")
        topic = asked.get("message_thread_id")
        room.check_topic(topic)
        answers = self._answered(room, asked.get("reply_parameters"), topic)
        room.count(at)
        post = Post(
            chat=room.id,
            number=room.next_number(),
            text=text,
            entities=entities,
            buttons=buttons,
            topic=topic,
            answers=answers,
            previews=not (asked.get("link_preview_options") or {}).get("is_disabled"),
        )
        self.posts.append(post)
        return self._message(room, post, at)

    def _answered(self, room: Room, wanted: dict[str, Any] | None, topic: int | None) -> int | None:
        if not wanted:
            return None
        number = wanted["message_id"]
        if not 0 < number <= room.last:
            if wanted.get("allow_sending_without_reply"):
                return None
            raise Refused(400, "Bad Request: message to be replied not found")
        elsewhere = [post for post in self.posts if (post.chat, post.number) == (room.id, number)]
        if any(post.topic != topic for post in elsewhere):  # whatever was allowed
            raise Refused(400, "Bad Request: message to be replied not found")
        return int(number)

    def _message(self, room: Room, post: Post, at: float) -> dict[str, Any]:
        made: dict[str, Any] = {
            "message_id": post.number,
            "from": BOT.as_json(),
            "chat": room.as_json(),
            "date": int(at),
            "text": post.text,
            "entities": [entity.as_json() for entity in post.entities],
        }
        if post.topic is not None:
            made |= {"message_thread_id": post.topic, "is_topic_message": True}
        return made

    def set_webhook(self, asked: dict[str, Any], at: float) -> bool:
        url, secret = asked.get("url", ""), asked.get("secret_token", "")
        check_webhook(url, secret, takes_http=self.takes_http)
        if asked.get("drop_pending_updates"):
            self.waiting.clear()
        self.webhook = Webhook(url=url, secret_token=secret)
        return True

    def delete_webhook(self, asked: dict[str, Any], at: float) -> bool:
        return self.set_webhook({**asked, "url": ""}, at)

    def get_webhook_info(self, asked: dict[str, Any], at: float) -> dict[str, Any]:
        hook = self.webhook
        found = {
            "url": hook.url,
            "has_custom_certificate": False,
            "pending_update_count": len(self.waiting),
        }
        if hook.last_error:
            found |= {"last_error_date": int(at), "last_error_message": hook.last_error}
        return found

    def get_updates(self, asked: dict[str, Any], at: float) -> list[dict[str, Any]]:
        """Waits for nothing to come, but a moment, so that nobody asks all the time."""
        if self.webhook.url:
            words = (
                "can't use getUpdates method while webhook is active; use deleteWebhook to delete"
            )
            raise Refused(409, f"Conflict: {words} the webhook first")
        if self.rival:
            words = "terminated by other getUpdates request; make sure that only one bot instance"
            raise Refused(409, f"Conflict: {words} is running")
        offset = asked.get("offset", 0)
        newest = self.waiting[-1]["update_id"] if self.waiting else offset
        if offset <= newest + 10:  # further ahead is none of its numbers: it begins where it is
            self.waiting = [update for update in self.waiting if update["update_id"] >= offset]
        if not self.waiting:
            time.sleep(min(asked.get("timeout", 0), 0.1))
        return self.waiting[: asked.get("limit", 100)]

    def write(
        self,
        text: str = "",
        *,
        chat: int = MIA.id,
        by: Person = MIA,
        under: Post | dict[str, Any] | None = None,
        topic: int | None = None,
        **changes: Any,
    ) -> dict[str, Any]:
        """Somebody writes; the message. It becomes an update when the bot may hear it.

        `under` is a post of the bot's or somebody's message; `changes` are keys of the message.
        """
        room = self.rooms[chat]
        message: dict[str, Any] = {
            "message_id": room.next_number(),
            "from": by.as_json(),
            "chat": room.as_json(),
            "date": int(time.time()),
            **({"text": text} if text else {}),
        }
        if command := re.match(r"/\w{1,32}(?:@\w+)?(?=\s|$)", text, re.ASCII):
            spot = {"type": "bot_command", "offset": 0, "length": command.end()}
            message["entities"] = [spot]
        original = self._message(room, under, 0) if isinstance(under, Post) else under
        if original is not None:
            message["reply_to_message"] = {
                key: value for key, value in original.items() if key != "reply_to_message"
            }
            if room.type == "supergroup" and topic is None:
                root = original.get("message_thread_id", original["message_id"])
                message["message_thread_id"] = root
        if topic is not None:
            begun = {"message_id": topic, "forum_topic_created": {"name": "Orders"}}
            message |= {"message_thread_id": topic, "is_topic_message": True}
            message.setdefault("reply_to_message", {**begun, "from": by.as_json()})
        message |= changes
        if self._hears(message):
            self.update(message=message)
        return message

    def update(self, **kind: Any) -> dict[str, Any]:
        """An update of a kind, such as `edited_message`, that now waits to be taken."""
        made = {"update_id": next(self._updates), **kind}
        self.waiting.append(made)
        return made

    def _hears(self, message: dict[str, Any]) -> bool:
        """Group Privacy: commands, and answers to the bot's messages and in their threads."""
        if message["chat"]["type"] not in GROUPS or self.reads_all:
            return True
        if any(key.startswith("migrate_") for key in message):
            return True
        text = message.get("text", "")
        if re.match(rf"/\w+(@{BOT.username})?(\s|$)", text):
            return True
        ours = {post.number for post in self.posts if post.chat == message["chat"]["id"]}
        original = message.get("reply_to_message") or {}
        return not ours.isdisjoint({original.get("message_id"), message.get("message_thread_id")})

    def delivery(self, update: dict[str, Any], *, secret: str | None = None) -> Delivery:
        """An update as it is posted to a webhook."""
        token = self.webhook.secret_token if secret is None else secret
        headers = {"X-Telegram-Bot-Api-Secret-Token": token} if token else {}
        return Delivery(body=json.dumps(update).encode(), headers=headers)

    def deliver(self, providers: Providers, *, client: Client) -> list[Delivered]:
        """Post what waits to the webhook, in order; what is not taken waits on, as it is."""
        answers = []
        to = urlsplit(self.webhook.url).path
        while self.waiting and to:
            answers.append(providers.deliver(self.delivery(self.waiting[0]), to=to, client=client))
            if not 200 <= answers[-1].status < 300:
                words = f"Wrong response from the webhook: {answers[-1].status}"
                self.webhook.last_error = words
                break
            del self.waiting[0]
        return answers

    def upgrade(self, old: int = GROUP, new: int = SUPERGROUP) -> None:
        """A group becomes a supergroup, whose messages are counted anew; both say so."""
        self.rooms[old].moved_to = new
        self.rooms[new].last = 0
        self.write(chat=old, migrate_to_chat_id=new)
        self.write(chat=new, migrate_from_chat_id=old)


_METHODS: Final[dict[str, Callable[[FakeTelegram, dict[str, Any], float], Any]]] = {
    "getMe": FakeTelegram.get_me,
    "getChat": FakeTelegram.get_chat,
    "sendMessage": FakeTelegram.send_message,
    "setWebhook": FakeTelegram.set_webhook,
    "deleteWebhook": FakeTelegram.delete_webhook,
    "getWebhookInfo": FakeTelegram.get_webhook_info,
    "getUpdates": FakeTelegram.get_updates,
}
