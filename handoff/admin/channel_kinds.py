"""The kinds of channel in the words of the page where one is chosen."""

import dataclasses
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from handoff.contract.kinds import ChannelKind
from handoff.transports import carried


@dataclasses.dataclass(frozen=True)
class KindWords:
    name: str | Promise
    sentence: str | Promise


WORDS: Final = {
    ChannelKind.EMAIL: KindWords(
        _("Email"), _("A mail with a link to the form, to one address or to a few.")
    ),
    ChannelKind.OWNER_INBOX: KindWords(
        _("Owner inbox"), _("The inbox of this desk, for whoever owns the agent.")
    ),
    ChannelKind.AGENT: KindWords(_("Sibling agent"), _("Another agent of this desk.")),
    ChannelKind.TELEGRAM: KindWords("Telegram", _("A person or a group, through a bot of yours.")),
    ChannelKind.SLACK: KindWords("Slack", _("A channel of your workspace, through an app.")),
    ChannelKind.DISCORD: KindWords("Discord", _("A channel of your server.")),
    ChannelKind.WHATSAPP: KindWords("WhatsApp", _("A number, through Meta’s Cloud API.")),
}


def name_of(kind: str) -> str:
    """The kind as people call it; a deployment's own kind, or one no longer carried, by its key."""
    return str(WORDS[ChannelKind(kind)].name) if kind in set(ChannelKind) else kind


def offered() -> list[tuple[str, KindWords]]:
    """The kinds that this desk carries, in the order of the page; those of its own last."""
    own = [kind for kind in carried() if kind not in set(ChannelKind)]
    return [
        *((kind, words) for kind, words in WORDS.items() if kind in carried()),
        *((kind, KindWords(kind, _("A kind of this deployment’s own."))) for kind in own),
    ]
