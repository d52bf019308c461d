"""What the Test button asks Discord; nobody there sees anything of it."""

from collections.abc import Iterator
from typing import Any, Final

from handoff.contract.text import one_line
from handoff.errors import TransportError
from handoff.transports.base import TestReport
from handoff.transports.discord_api import DiscordApi
from handoff.transports.discord_settings import DiscordSettings

_TAKES_THREADS: Final = frozenset({0, 5})
"""Text and announcement channels."""
_TAKES_MESSAGES: Final = frozenset({0, 1, 2, 3, 5, 10, 11, 12, 13})
_MESSAGE_CONTENT: Final = 1 << 18 | 1 << 19


class _Stop(Exception):
    """The sentence says what is wrong."""


def check(api: DiscordApi, settings: DiscordSettings, *, deadline: float) -> TestReport:
    """A line for each step, and of the first that does not work why."""
    lines: list[str] = []
    steps = _bot if settings.bot_token else _webhook
    try:
        lines.extend(steps(api, settings, deadline))
    except TransportError as error:
        lines += [f"Stopped there: {error.operator_detail}.", error.hint]
        return TestReport(works=False, lines=tuple(filter(None, lines)))
    except _Stop as stop:
        return TestReport(works=False, lines=(*lines, str(stop)))
    return TestReport(works=True, lines=tuple(lines))


def _webhook(api: DiscordApi, settings: DiscordSettings, deadline: float) -> Iterator[str]:
    webhook, token = settings.webhook
    found = api.ask("GET", f"/webhooks/{webhook}/{token}", deadline=deadline)
    yield f"The webhook “{_named(found)}” is there."
    yield "A webhook only posts: nobody can answer in Discord, the form is the way."


def _bot(api: DiscordApi, settings: DiscordSettings, deadline: float) -> Iterator[str]:
    me = api.ask("GET", "/users/@me", deadline=deadline)
    if me.get("bot") is not True:
        raise _Stop("bot_token is not that of a bot.")
    yield f"Logged in as {_named(me, 'username')}."
    yield from _channel(api, settings, deadline)
    yield from _application(api, settings, deadline)


def _channel(api: DiscordApi, settings: DiscordSettings, deadline: float) -> Iterator[str]:
    channel = api.ask("GET", f"/channels/{settings.channel_id}", deadline=deadline)
    kind = channel.get("type")
    if kind not in _TAKES_MESSAGES:
        raise _Stop("channel_id names a forum, a category or the like: choose a text channel.")
    if settings.guild_id and channel.get("guild_id") not in (None, settings.guild_id):
        raise _Stop("The channel is in another server than guild_id says.")
    yield f"Sees the channel {_named(channel)}."
    if kind not in _TAKES_THREADS:
        yield "It takes no threads: lines are replies, and /release needs the token there."


def _application(api: DiscordApi, settings: DiscordSettings, deadline: float) -> Iterator[str]:
    """Where commands are posted to, and whether what they are signed with is what we know."""
    found = api.ask("GET", "/applications/@me", deadline=deadline)
    if settings.application_id and found.get("id") != settings.application_id:
        raise _Stop("application_id is not that of this bot.")
    if settings.public_key and found.get("verify_key") != settings.public_key:
        raise _Stop("public_key is not that of this bot: copy it from General Information.")
    url = found.get("interactions_endpoint_url")
    if isinstance(url, str) and url:
        yield f"Discord posts commands to {one_line(url)[:300]}."
    elif settings.public_key:
        yield "Discord has no Interactions Endpoint URL yet: without it no command arrives."
    if not settings.public_key:
        yield "public_key is empty: /reply and /release are not believed."
    flags = found.get("flags")
    if settings.poll_replies and not (isinstance(flags, int) and flags & _MESSAGE_CONTENT):
        raise _Stop("Message Content Intent is off on the page Bot: what people write is hidden.")


def _named(found: dict[str, Any], key: str = "name") -> str:
    name = found.get(key)
    return one_line(name)[:100] if isinstance(name, str) and name.strip() else "(without a name)"
