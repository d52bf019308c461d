"""Fills the database of a server with a handoff that nobody has opened for ten minutes.

Run in the server's environment: `python -m tests.inbox.alert_story`.
"""

import datetime as dt
import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.db.models import F  # noqa: E402  (they need the settings)

from handoff.models import Session  # noqa: E402
from tests import factories  # noqa: E402


def main() -> None:
    owner = factories.UserFactory.create(username="ada")
    agent = factories.owned_agent(owner, name="shop")
    channel = factories.inbox_channel(agent, notify_after_minutes=5)
    factories.requested(agent, channel, factories.conversation(agent))
    Session.objects.update(created_at=F("created_at") - dt.timedelta(minutes=10))


if __name__ == "__main__":
    main()
