from importlib import import_module

from django.apps import AppConfig, apps
from django.core import checks

from handoff.management.checks import check_private_targets, check_route


class HandoffConfig(AppConfig):
    name = "handoff"
    verbose_name = "Handoff desk"

    def ready(self) -> None:
        checks.register(check_route)
        checks.register(check_private_targets)
        if apps.is_installed("anymail"):
            import_module("handoff.hooks.mail_hosts")
