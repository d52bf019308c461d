"""`manage.py send_test CHANNEL_ID`: what the admin's Test channel button does, from the shell."""

from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from handoff.actions.channels import run_test
from handoff.models import Channel


class Command(BaseCommand):
    help = "Ask a channel's provider whether its settings work. Nothing reaches the recipient."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("channel_id", type=int)

    def handle(self, *args: Any, **options: Any) -> None:
        channel = Channel.objects.filter(pk=options["channel_id"]).first()
        if channel is None:
            known = ", ".join(str(found.pk) for found in Channel.objects.all()[:50]) or "none yet"
            raise CommandError(f"There is no channel {options['channel_id']}. Known: {known}.")
        report = run_test(channel, actor="shell")
        for line in report.lines:
            self.stdout.write(line)
        if not report.works:
            raise CommandError(f"Channel {channel.pk} ({channel.label}) does not work yet.")
        self.stdout.write(f"Channel {channel.pk} ({channel.label}) works.")
