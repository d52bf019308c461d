"""`manage.py poll_mailbox`: read the replies to email channels, with or without a server."""

from handoff.contract.kinds import ChannelKind
from handoff.management.poll import PollCommand


class Command(PollCommand):
    help = "Read the mailboxes of email channels until stopped. The server does so by itself."
    kind = ChannelKind.EMAIL
    asks = "inbound: imap"
