"""The Test button of a Slack channel: token, scopes and channel, before anybody gets a message."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from handoff.contract.text import one_line
from handoff.errors import TransportError
from handoff.outbound.http import HttpAnswer
from handoff.transports.base import TestReport
from handoff.transports.slack_errors import lacks
from handoff.transports.slack_settings import SlackSettings

NAME_MAX: Final = 80
type Ask = Callable[[str, Mapping[str, str]], HttpAnswer]
"""Method and form -> the answer of a call that went well; raises TransportError."""


def report(settings: SlackSettings, ask: Ask) -> TestReport:
    lines: list[str] = []
    try:
        login = ask("auth.test", {})
        who = login.json() or {}
        bot = _named(who, "user")
        lines.append(f"Logged in to {_named(who, 'team')} as {bot}.")
        found = ask("conversations.info", {"channel": settings.channel_id})
    except TransportError as error:
        lines += [f"Stopped there: {error.operator_detail}.", error.hint]
        return TestReport(works=False, lines=tuple(filter(None, lines)))
    channel = (found.json() or {}).get("channel")
    problems = list(_problems(settings, channel if isinstance(channel, dict) else {}, login, bot))
    if isinstance(channel, dict) and not channel.get("is_im"):
        lines.append(f"Messages go to #{_named(channel, 'name')}.")
    if not settings.signing_secret:
        lines.append("signing_secret is empty: what is written in Slack is not heard.")
    return TestReport(works=not problems, lines=(*lines, *problems))


def _problems(
    settings: SlackSettings, channel: Mapping[str, Any], login: HttpAnswer, bot: str
) -> Iterator[str]:
    if channel.get("is_archived"):
        yield "The channel is archived: unarchive it, or choose another."
    elif not channel.get("is_im") and not channel.get("is_member"):
        name = _named(channel, "name")
        yield f"The bot is not in the channel: type /invite @{bot} in #{name}."
    granted = login.headers.get("x-oauth-scopes")
    if granted is None:
        return
    has = {scope.strip() for scope in granted.split(",")}
    needed = ["chat:write", *([_history(channel)] if settings.signing_secret else ())]
    yield from (lacks(scope) for scope in needed if scope not in has)


def _history(channel: Mapping[str, Any]) -> str:
    """The scope without which Slack tells us nothing of what is written there."""
    if channel.get("is_im"):
        return "im:history"
    if channel.get("is_mpim"):
        return "mpim:history"
    return "groups:history" if channel.get("is_private") else "channels:history"


def _named(found: Mapping[str, Any], key: str) -> str:
    value = found.get(key)
    return one_line(value)[:NAME_MAX] if isinstance(value, str) and value else "?"
