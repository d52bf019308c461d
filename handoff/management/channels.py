"""Channels as commands name them."""

from django.core.management import CommandError

from handoff.models import Channel


def numbered(channel_id: int) -> Channel:
    """The channel of this number; raises CommandError naming those that there are."""
    channel = Channel.objects.select_related("agent").filter(pk=channel_id).first()
    if channel is None:
        known = ", ".join(str(found.pk) for found in Channel.objects.all()[:50]) or "none yet"
        raise CommandError(f"There is no channel {channel_id}. Known: {known}.")
    return channel
