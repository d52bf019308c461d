"""What an admin does at the provider of a channel: what to paste there, what to press here."""

import dataclasses

from handoff import links
from handoff.admin.setting_fields import label_of, stored_settings
from handoff.models import Channel
from handoff.transports import transport_class
from handoff.transports.base import SetUp


@dataclasses.dataclass(frozen=True, kw_only=True)
class AtProvider:
    """Empty for a kind that needs nothing there."""

    has_webhook: bool = False
    webhook_url: str = ""
    """"" although there is one: the desk has no public address."""
    manifest: str = ""
    set_ups: tuple[SetUp, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.has_webhook or self.manifest or self.set_ups)


def at_provider(channel: Channel) -> AtProvider:
    transport = transport_class(channel.kind)
    url = links.hook_url(channel.kind, channel.uuid)
    return AtProvider(
        has_webhook=transport.hook is not None,
        webhook_url=url if transport.hook else "",
        manifest=transport.manifest(hook_url=url, label=channel.label),
        set_ups=transport.set_ups,
    )


def once(channel: Channel, keys: tuple[str, ...]) -> list[tuple[str, str]]:
    """Label and value of secrets that we made, for the one page that shows them."""
    values = stored_settings(Channel.objects.get(pk=channel.pk)).values
    return [(label_of(key), str(values[key])) for key in keys if values.get(key)]
