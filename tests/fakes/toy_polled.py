"""The toy where nothing can reach us from outside: we ask for what happened."""

from typing import Literal

import pydantic

from handoff.transports.inbound import Polled
from tests.fakes.toy import Posted, Toy, ToySettings

threads_asked: list[tuple[str, ...]] = []
"""What each look was told to look for."""
_EVENTS = pydantic.TypeAdapter(list[Posted])


class PolledToySettings(ToySettings):
    mode: Literal["poll", "webhook"] = "poll"


class PolledToy(Toy):
    kind = "polled"
    settings_model = PolledToySettings
    poll_every = 0.0

    @property
    def polls(self) -> bool:
        return isinstance(self.settings, PolledToySettings) and self.settings.mode == "poll"

    def poll(self, cursor: str, *, threads: tuple[str, ...], deadline: float) -> Polled:
        threads_asked.append(threads)
        read = self.ask("GET", f"queue?after={cursor}", deadline=deadline)
        return Polled(
            events=tuple(
                came for one in _EVENTS.validate_python(read["events"]) if (came := one.came())
            ),
            cursor=str(read["next"]),
            hint=str(read["hint"]),
        )
