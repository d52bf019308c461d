"""`manage.py rotate_keys`: the stored credentials under the first of HANDOFF_ENCRYPTION_KEYS."""

from typing import Any

from django.core.management import BaseCommand, CommandError

from handoff.actions.reseal_channels import reseal_channels


class Command(BaseCommand):
    help = "Seal the credentials of all channels under the first key; then drop the old keys."

    def handle(self, *args: Any, **options: Any) -> None:
        resealed = reseal_channels(actor="shell")
        self.stdout.write(f"Channels sealed under the first key: {resealed.done}.")
        if resealed.unreadable:
            names = "\n".join(f"Channel {one.pk}: {one}" for one in resealed.unreadable)
            raise CommandError(f"No key opens these; enter their credentials again.\n{names}")
