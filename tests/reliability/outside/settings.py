"""The settings of this folder with one app more: it breaks the process from the outside."""

from tests.reliability.settings import *  # noqa: F403
from tests.reliability.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.reliability.outside"]
