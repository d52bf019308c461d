"""`manage.py doctor`: what is configured, and how it stands, in words."""

from typing import Any

from django.core.management import BaseCommand, CommandError

from handoff.management.findings import State, findings


class Command(BaseCommand):
    help = "Say what is configured and what is broken. Contacts nobody; fails when something is."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        broken = 0
        for finding in findings():
            broken += finding.state is State.BAD
            self.stdout.write(f"{finding.state:<5} {finding.sentence}")
        if broken:
            raise CommandError(f"Broken: {broken}. Each line that begins with bad says what to do.")
