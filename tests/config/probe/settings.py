"""The product's settings, with views and consumers that only tests need beside its own."""

from config.settings import *  # noqa: F403
from config.settings import STORAGES

ROOT_URLCONF = "tests.config.probe.urls"
ASGI_APPLICATION = "tests.config.probe.asgi.application"
# nothing is collected for a probe server, so pages name static files by their source
STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
