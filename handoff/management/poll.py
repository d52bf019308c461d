"""What `poll_mailbox` and `poll_telegram` share."""

import functools
import signal
import threading
from typing import Any, ClassVar

from django.core.management import BaseCommand, CommandError, CommandParser

from handoff.actions import couriers
from handoff.actions.inbound_apply import apply_due
from handoff.actions.pollers import Pollers
from handoff.actions.polls import Looked, lease, look_into, polling
from handoff.actions.relatives import Opened

PAUSE_SECONDS = 1.0
END_SECONDS = 15.0


class PollCommand(BaseCommand):
    """Looks into the channels of one kind until it is stopped, as the server does by itself."""

    kind: ClassVar[str]
    asks: ClassVar[str]
    """What a channel has to say to be read, such as `inbound: imap`."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("channel_id", type=int, nargs="?", help="only this one")
        parser.add_argument("--once", action="store_true", help="look once into each and end")

    def handle(self, *args: Any, **options: Any) -> None:
        among = functools.partial(polling, kinds=[self.kind], only=options["channel_id"])
        found = among()
        if not found:
            raise CommandError(f"No {self.kind} channel asks for it ({self.asks}).")
        if options["once"]:
            self._once(found)
        else:
            self._until_stopped(Pollers(among, told=self._say))

    def _once(self, found: list[Opened]) -> None:
        problems = 0
        for one in found:
            if not lease(one.channel):
                self.stdout.write(f"Channel {one.channel.pk}: somebody looks already, or just did.")
                continue
            looked = look_into(one)
            self._say(looked)
            problems += bool(looked.problem)
        _settle()
        if problems:
            raise CommandError(f"{problems} of {len(found)} could not be read.")

    def _until_stopped(self, pollers: Pollers) -> None:
        stopped = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopped.set())
        while not stopped.is_set():
            pollers.look()
            _settle()
            stopped.wait(PAUSE_SECONDS)
        pollers.halt()
        pollers.wait(END_SECONDS)
        _settle()

    def _say(self, looked: Looked) -> None:
        if looked.problem:
            self.stderr.write(f"Channel {looked.channel}: {looked.problem}")
        elif looked.events:
            self.stdout.write(f"Channel {looked.channel}: {looked.events} new.")


def _settle() -> None:
    """What came has its effect, here if no server is faster, and senders are told."""
    apply_due()
    couriers.look()
    couriers.wait(END_SECONDS)
