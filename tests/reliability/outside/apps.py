"""Puts the kill points, the shorter clocks and the broken variants into a server of a test."""

from django.apps import AppConfig
from django.utils.module_loading import import_string


class OutsideConfig(AppConfig):
    name = "tests.reliability.outside"
    label = "outside"

    def ready(self) -> None:
        # by name: what they import needs the models
        for module in ("broken", "points", "hop_points", "clocks"):
            import_string(f"{self.name}.{module}.install")()
