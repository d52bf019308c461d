"""Which channel a call may use: one that is there, on, not paused, and not asked too often."""

from handoff.contract import answers
from handoff.errors import Refused
from handoff.models import Agent, Channel
from handoff.selectors import channels


def chosen(agent: Agent, channel_id: int) -> Channel:
    """The channel as it is now; raises Refused when the agent may not use it."""
    offers = channels.offers(agent)
    for offer in offers:
        if offer.channel.pk == channel_id and offer.available:
            return offer.channel
        if offer.channel.pk == channel_id and _was_granted(offer.channel):
            raise Refused(
                "not_granted",
                f"You may not hand over to {offer.channel.label} any more. Nobody was asked.",
                details={"channel_id": channel_id},
                other_agent=offer.channel.target.name if offer.channel.target else "",
            )
        if offer.channel.pk == channel_id and offer.usable:
            raise _contact_limit(offer.channel)
    names = [channels.name_of(offer.channel) for offer in offers if offer.available]
    if not names:
        raise Refused("no_channels", "No channel is available to you now. Nobody was asked.")
    raise Refused(
        "channel_not_available",
        f"Channel {channel_id} is not available to you. Available: "
        f"{'; '.join(map(str, names))}. Nobody was asked.",
        details={"channel_id": channel_id, "available": [name.id for name in names]},
    )


def _was_granted(channel: Channel) -> bool:
    """A channel to a sibling is a grant; switched off, it is one that was taken back."""
    return channel.target_id is not None and not channel.enabled


def _contact_limit(channel: Channel) -> Refused:
    hint = answers.other_channels(channels.others(channel.agent, besides=channel.pk))
    return Refused(
        "contact_limit",
        f"{channel.label} was asked {channel.contact_limit_per_hour} times within an hour, which "
        f"is its limit; nobody was asked now. {hint}",
        details={"channel_id": channel.pk, "limit_per_hour": channel.contact_limit_per_hour},
    )
