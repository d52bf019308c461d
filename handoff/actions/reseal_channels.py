"""After a change of HANDOFF_ENCRYPTION_KEYS: every channel's settings under the first key."""

import dataclasses

import audit.trail
from handoff.actions.writing import writing
from handoff.models import Channel
from handoff.models.sealed import Unreadable, reseal


@dataclasses.dataclass(frozen=True)
class Resealed:
    """What became of the channels that have settings."""

    done: int
    unreadable: tuple[Channel, ...]
    """No key opens these: their credentials have to be entered again."""


def reseal_channels(*, actor: str) -> Resealed:
    """Seal what any key opens under the first one; safe to run again, and beside a running desk."""
    unreadable: list[Channel] = []
    pks = list(Channel.objects.exclude(sealed_settings="").values_list("pk", flat=True))
    for pk in pks:
        with writing():
            rows = Channel.objects.select_for_update(no_key=True, of=("self",))
            channel = rows.select_related("agent").get(pk=pk)
            try:
                channel.sealed_settings = reseal(channel.sealed_settings)
            except Unreadable:
                unreadable.append(channel)
                continue
            channel.save(update_fields=["sealed_settings"])
            audit.trail.record(
                "channel.changed",
                actor=actor,
                agent=channel.agent.name,
                channel=channel.pk,
                details={"kind": channel.kind, "keys": [], "resealed": True},
            )
    return Resealed(len(pks) - len(unreadable), tuple(unreadable))
