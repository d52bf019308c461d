"""The product's settings, but for what only a collected folder of static files would need."""

from config.settings import *  # noqa: F403
from config.settings import STORAGES

STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
