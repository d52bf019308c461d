"""`manage.py set_up CHANNEL_ID KEY`: what a channel's further buttons in the admin do."""

from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from handoff.actions.channels import run_set_up
from handoff.management.channels import numbered
from handoff.transports import transport_class


class Command(BaseCommand):
    help = "Do something at a channel's provider that it needs once, such as connecting replies."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("channel_id", type=int)
        parser.add_argument("key", help="such as replies; another word lists what there is")

    def handle(self, *args: Any, **options: Any) -> None:
        channel = numbered(options["channel_id"])
        there = {one.key: one.label for one in transport_class(channel.kind).set_ups}
        if options["key"] not in there:
            known = ", ".join(f"{key} ({label})" for key, label in there.items()) or "nothing"
            raise CommandError(
                f"To be set up at the provider of a {channel.kind} channel: {known}."
            )
        report = run_set_up(channel, options["key"], actor="shell")
        for line in report.lines:
            self.stdout.write(line)
        if not report.works:
            raise CommandError(f"Channel {channel.pk} ({channel.label}) could not be set up.")
