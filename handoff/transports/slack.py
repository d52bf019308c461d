"""Slack: an app of the workspace posts in one channel, and every handoff is a thread there."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from django.conf import settings
from django.utils.translation import gettext

from handoff.contract.kinds import ChannelKind
from handoff.errors import TransportError
from handoff.outbound.http import HttpAnswer, call, unclear
from handoff.transports.base import Notice, Outgoing, Receipt, Request, TestReport, Transport
from handoff.transports.chat_text import compose
from handoff.transports.inbound import Hook, Said
from handoff.transports.recipient_place import place
from handoff.transports.slack_check import report
from handoff.transports.slack_errors import PLAINER, THREAD_GONE, refusal
from handoff.transports.slack_hook import SlackHook
from handoff.transports.slack_manifest import manifest
from handoff.transports.slack_settings import SlackSettings
from handoff.transports.slack_text import BLOCKS_MAX, TEXT_MAX, Mrkdwn, sections

QUIET: Final = {"parse": "none", "link_names": False, "unfurl_links": False, "unfurl_media": False}
"""Slack finds no name and fetches no page in what we post; only marks of ours are links."""


class Slack(Transport[SlackSettings]):
    kind = ChannelKind.SLACK
    settings_model = SlackSettings
    hook: ClassVar[type[Hook[Any]] | None] = SlackHook

    def send(self, message: Outgoing, *, deadline: float) -> Receipt:
        """One post, in the thread of its handoff once there is one; see Transport.send.

        `provider_message_id` is `channel:ts`, `thread_key` the ts of the thread's first post. A
        thread that is gone is begun anew; a form that Slack refuses is sent once more as text.
        """
        post = self._post(message)
        for _ in range(2):
            try:
                return _receipt(self._ask("chat.postMessage", json=post, deadline=deadline), post)
            except TransportError as error:
                if not _eased(post, error.provider_code):
                    raise
        return _receipt(self._ask("chat.postMessage", json=post, deadline=deadline), post)

    def test(self, *, deadline: float) -> TestReport:
        """auth.test and conversations.info: who we are there, what we may, and where we post."""

        def ask(method: str, form: Mapping[str, str]) -> HttpAnswer:
            return self._ask(method, form=form, deadline=deadline)

        return report(self.settings, ask)

    def accepts(self, said: Said, *, recipients: frozenset[str]) -> bool:
        return said.place == self.settings.channel_id

    @classmethod
    def manifest(cls, *, hook_url: str, label: str) -> str:
        return manifest(hook_url)

    def _post(self, message: Outgoing) -> dict[str, Any]:
        post = {
            "channel": message.place if isinstance(message, Notice) else self.settings.channel_id,
            "text": self._composed(message, limit=TEXT_MAX),
            "blocks": sections(self._composed(message, limit=BLOCKS_MAX)),
            **QUIET,
        }
        return post | ({"thread_ts": message.thread_key} if message.thread_key else {})

    def _composed(self, message: Outgoing, *, limit: int) -> str:
        heard = bool(self.settings.signing_secret)
        return compose(message, Mrkdwn(limit), answering=self._answering(message), is_heard=heard)

    def _answering(self, message: Outgoing) -> str:
        """How to reply here; "" where nobody would hear it, or no visitor is there to read it."""
        if not isinstance(message, Request) or message.idle_minutes is None:
            return ""
        if not self.settings.signing_secret:
            return ""
        with place(message.language, message.timezone):
            return gettext("Reply in this thread to write to the visitor.")

    def _ask(self, method: str, *, deadline: float, **body: Any) -> HttpAnswer:
        """The answer to a call that Slack says went well; raises TransportError for any other."""
        headers = {"Authorization": f"Bearer {self.settings.bot_token}"}
        if "json" in body:
            headers["Content-Type"] = "application/json; charset=utf-8"
        answer = call(
            "POST",
            f"{settings.SLACK_API_BASE}/{method}",
            deadline=deadline,
            headers=headers,
            secrets=(self.settings.bot_token,),
            **body,
        )
        said = answer.json()
        if answer.status != 200 or said is None or said.get("ok") is not True:
            raise refusal(answer, sends=method == "chat.postMessage")
        return answer


def _eased(post: dict[str, Any], code: str | None) -> bool:
    """Takes out of the post what Slack refused; False when nothing of that is in it."""
    if code in THREAD_GONE:
        return post.pop("thread_ts", None) is not None
    return code in PLAINER and post.pop("blocks", None) is not None


def _receipt(answer: HttpAnswer, post: Mapping[str, Any]) -> Receipt:
    said = answer.json() or {}
    channel, ts = said.get("channel"), said.get("ts")
    if not isinstance(channel, str) or not isinstance(ts, str):
        raise unclear(answer, sends=True)
    return Receipt(
        provider_message_id=f"{channel}:{ts}",
        thread_key=str(post.get("thread_ts") or ts),
        raw_excerpt="ok",
    )
