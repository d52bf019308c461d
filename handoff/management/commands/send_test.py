"""`manage.py send_test CHANNEL_ID`: what the admin's Test channel button does, from the shell."""

from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from handoff.actions.channels import run_test
from handoff.management.channels import numbered


class Command(BaseCommand):
    help = "Ask a channel's provider whether its settings work. Nothing reaches the recipient."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("channel_id", type=int)

    def handle(self, *args: Any, **options: Any) -> None:
        channel = numbered(options["channel_id"])
        report = run_test(channel, actor="shell")
        for line in report.lines:
            self.stdout.write(line)
        if not report.works:
            raise CommandError(f"Channel {channel.pk} ({channel.label}) does not work yet.")
        self.stdout.write(f"Channel {channel.pk} ({channel.label}) works.")
