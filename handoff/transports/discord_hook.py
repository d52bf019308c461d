"""Discord's calls to us: one for each slash command, on one address for each app.

What we answer is what the person sees, and Discord waits 3 s for it and never asks again.
"""

import hmac
import json
import re
from collections.abc import Mapping
from typing import Any, ClassVar, Final

import pydantic
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.utils.translation import gettext

from handoff.contract import jsontext
from handoff.transports.discord_commands import Command, Interaction
from handoff.transports.discord_settings import DiscordSettings
from handoff.transports.discord_text import CONTENT_MAX, Markdown
from handoff.transports.inbound import Hook, HookAnswer, HookCall, Received
from handoff.transports.recipient_place import place

SKEW_SECONDS: Final = 300
"""How old a call may be. One from a clock ahead of ours is not refused for that."""
PING: Final = 1
COMMAND: Final = 2
_MESSAGE: Final = 4
_ONLY_TO_THEM: Final = 64
_TIMESTAMP: Final = re.compile(r"[0-9]{1,12}")
_SIGNATURE: Final = re.compile(r"[0-9a-fA-F]{128}")
_UNREADABLE: Final = Received(answer=HookAnswer(status=400), refused="unreadable")


class DiscordHook(Hook[DiscordSettings]):
    unavailable: ClassVar[int] = 500  # nothing makes Discord try again

    def receive(self, call: HookCall) -> Received:
        """401 unless it is signed, which Discord tests with bad signatures; else 400 unless it can
        be read, else 200."""
        if call.method != "POST":
            return Received(answer=HookAnswer(status=405, headers={"Allow": "POST"}))
        if refused := self._refused(call):
            return Received(answer=HookAnswer(status=401), refused=refused)
        try:
            body = jsontext.loads(call.body)
            interaction = Interaction.model_validate(body)
            if interaction.type == PING:
                return Received(answer=_json({"type": PING}))
            if interaction.type != COMMAND:
                return self._not_ours(interaction)
            said = Command.model_validate(body).said()
        except (jsontext.JSONProblem, pydantic.ValidationError):
            return _UNREADABLE
        if said is None:
            return self._not_ours(interaction)
        with place(interaction.locale, "UTC"):
            answer = self.saying(gettext("There is no handoff here."))
        return Received(answer=answer, events=(said,), at_once=True)

    def account(self) -> str:
        return self.settings.channel_id

    def shares_secret(self, other: DiscordSettings) -> bool:
        mine, theirs = self.settings.public_key.encode(), other.public_key.encode()
        return bool(mine) and hmac.compare_digest(mine, theirs)

    def saying(self, words: str) -> HookAnswer:
        """Only whoever typed the command sees it."""
        dialect = Markdown()
        content = dialect.escape(words)
        while dialect.measure(content) > CONTENT_MAX:
            words = words[: len(words) // 2].rstrip()
            content = dialect.escape(words) + "…"
        return _json(
            {
                "type": _MESSAGE,
                "data": {
                    "content": content,
                    "flags": _ONLY_TO_THEM,
                    "allowed_mentions": {"parse": []},
                },
            }
        )

    def _not_ours(self, interaction: Interaction) -> Received:
        with place(interaction.locale, "UTC"):
            return Received(answer=self.saying(gettext("This is not supported here.")))

    def _refused(self, call: HookCall) -> str:
        """Why the signature is not believed; "" when it is."""
        if not self.settings.public_key:
            return "no_public_key"
        signature = call.headers.get("x-signature-ed25519", "")
        timestamp = call.headers.get("x-signature-timestamp", "")
        if not signature or not timestamp:
            return "unsigned"
        if not _SIGNATURE.fullmatch(signature) or not _TIMESTAMP.fullmatch(timestamp):
            return "malformed_signature"
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(self.settings.public_key))
        try:
            key.verify(bytes.fromhex(signature), timestamp.encode() + call.body)
        except InvalidSignature:
            return "bad_signature"
        if call.at - int(timestamp) > SKEW_SECONDS:
            return "too_old"
        return ""


def _json(value: Mapping[str, Any]) -> HookAnswer:
    return HookAnswer(status=200, body=json.dumps(value).encode(), content_type="application/json")
