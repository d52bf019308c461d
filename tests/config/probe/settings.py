"""The product's settings, with views and consumers that only tests need beside its own."""

from config.settings import *  # noqa: F403

ROOT_URLCONF = "tests.config.probe.urls"
ASGI_APPLICATION = "tests.config.probe.asgi.application"
