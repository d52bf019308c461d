"""`manage.py poll_telegram`: read the bots of Telegram channels that have no webhook."""

from handoff.contract.kinds import ChannelKind
from handoff.management.poll import PollCommand


class Command(PollCommand):
    help = "Read the queues of Telegram bots until stopped. The server does so by itself."
    kind = ChannelKind.TELEGRAM
    asks = "mode: poll"
