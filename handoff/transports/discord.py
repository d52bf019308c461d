"""Discord: a message in a channel and a thread on it, as a bot; or as a webhook, one way only."""

import time
from typing import Any, ClassVar, Final

from handoff.contract.kinds import ChannelKind
from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from handoff.transports.base import (
    Closed,
    Line,
    Notice,
    Outgoing,
    Receipt,
    Request,
    SetUp,
    TestReport,
    Transport,
)
from handoff.transports.discord_api import DiscordApi
from handoff.transports.discord_check import check
from handoff.transports.discord_commands import register
from handoff.transports.discord_errors import THREAD_EXISTS
from handoff.transports.discord_hook import DiscordHook
from handoff.transports.discord_poll import look
from handoff.transports.discord_post import post
from handoff.transports.discord_settings import DiscordSettings
from handoff.transports.discord_text import thread_name
from handoff.transports.inbound import Hook, Polled, Said

ARCHIVE_MINUTES: Final = 4320
"""How long a silent thread stays in the list of channels; a line of ours brings it back."""
THREAD_SECONDS: Final = 4.0
_COMMANDS: Final = "commands"


class Discord(Transport[DiscordSettings]):
    kind = ChannelKind.DISCORD
    settings_model = DiscordSettings
    hook: ClassVar[type[Hook[Any]] | None] = DiscordHook
    set_ups: ClassVar[tuple[SetUp, ...]] = (
        SetUp(
            key=_COMMANDS,
            label="Register commands",
            explanation="Makes /reply and /release known in the server that guild_id names.",
        ),
    )
    poll_every: ClassVar[float] = 10.0

    @property
    def resends_safely(self) -> bool:
        return bool(self.settings.bot_token)

    @property
    def not_found_is_final(self) -> bool:
        """Of a webhook: whoever goes on calling one that is gone is kept out for a while."""
        return not self.settings.bot_token

    @property
    def polls(self) -> bool:
        return self.settings.poll_replies

    def send(self, message: Outgoing, *, deadline: float) -> Receipt:
        """One post; on the first of a handoff a thread, in which all others go. See Transport.send.

        `provider_message_id` is the id of the post, `thread_key` that of the thread, which is the
        same. Where there can be no thread the others are replies to the first; where it is gone,
        another begins. A webhook has neither.
        """
        if isinstance(message, Notice) and not self.settings.bot_token:
            raise TransportError(Kind.BAD_FORMAT, "nobody writes to a webhook")
        posted, place = self._send(message, deadline=deadline)
        if isinstance(message, Notice) or not self.settings.bot_token:
            return Receipt(provider_message_id=posted)
        thread = ""
        if isinstance(message, Request) or (message.thread_key and place != message.thread_key):
            thread = self._open_thread(message, posted, deadline=deadline)
        return Receipt(provider_message_id=posted, thread_key=thread)

    def test(self, *, deadline: float) -> TestReport:
        """Who the bot is, whether it sees the channel, and where Discord posts commands to."""
        return check(self._api(), self.settings, deadline=deadline)

    def set_up(self, key: str, *, hook_url: str, deadline: float) -> TestReport:
        """`commands`: /reply and /release, in one server. What is there already stays."""
        if key != _COMMANDS:
            raise KeyError(key)
        return register(self._api(), self.settings, deadline=deadline)

    def accepts(self, said: Said, *, recipients: frozenset[str]) -> bool:
        """Whoever may write in the channel, or in a thread of it, is the recipient."""
        here = self.settings.channel_id
        return bool(here) and (here in (said.account, said.place) or said.place in recipients)

    def poll(self, cursor: str, *, threads: tuple[str, ...], deadline: float) -> Polled:
        account = self.settings.channel_id
        return look(self._api(), cursor, threads=threads, account=account, deadline=deadline)

    def _api(self) -> DiscordApi:
        return DiscordApi(bot_token=self.settings.bot_token, secrets=self.settings.webhook[1:])

    def _send(self, message: Outgoing, *, deadline: float) -> tuple[str, str]:
        """The id of the post, or of the same one if Discord has it already, and where it stands."""
        api, attempt = self._api(), post(message, self.settings)
        while True:
            try:
                made = api.ask(
                    "POST", attempt.path, body=attempt.body, deadline=deadline, sends=True
                )
            except TransportError as error:
                eased = attempt.eased(error.provider_code)
                if eased is None:
                    raise
                attempt = eased
            else:
                return _id_of(made), attempt.to

    def _open_thread(
        self, message: Request | Line | Closed, posted: str, *, deadline: float
    ) -> str:
        """The thread's id, which is that of the message it hangs on; "" when there is none.

        The message has been delivered: whatever happens here changes nothing about that.
        """
        soon = min(deadline - 1.0, time.monotonic() + THREAD_SECONDS)
        try:
            made = self._api().ask(
                "POST",
                f"/channels/{self.settings.channel_id}/messages/{posted}/threads",
                body={
                    "name": thread_name(message),
                    "auto_archive_duration": ARCHIVE_MINUTES,
                },
                deadline=soon,
            )
            return _id_of(made)
        except TransportError as error:
            return posted if error.provider_code == THREAD_EXISTS else ""


def _id_of(made: dict[str, Any]) -> str:
    """A text, and digits: as a number it would lose its end in what reads JSON as JavaScript."""
    found = made.get("id")
    if not isinstance(found, str) or not found.isdigit():
        raise TransportError(
            Kind.UNKNOWN_OUTCOME,
            "Discord's answer names no message",
            hint="Look at the channel before anything is sent again.",
        )
    return found
