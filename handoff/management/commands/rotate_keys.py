"""`manage.py rotate_keys`: the stored credentials under the first of HANDOFF_ENCRYPTION_KEYS."""

from typing import Any

from django.core.management import BaseCommand, CommandError

from handoff.actions.reseal_channels import reseal_channels
from handoff.actions.webhooks import reseal_webhooks


class Command(BaseCommand):
    help = "Seal all credentials under the first key; then drop the old keys."

    def handle(self, *args: Any, **options: Any) -> None:
        resealed = reseal_channels(actor="shell")
        lost = reseal_webhooks(actor="shell")
        self.stdout.write(f"Channels sealed under the first key: {resealed.done}.")
        names = [f"Channel {one.pk}: {one}" for one in resealed.unreadable]
        names += [f"Webhook {one.public_id}: {one}" for one in lost]
        if names:
            words = "No key opens these; enter their credentials again, or rotate their secrets."
            raise CommandError("\n".join([words, *names]))
