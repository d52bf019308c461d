"""Fills the database of a desk for the tests of an embedded chat; prints the token and channels.

Run in the server's environment: `python -m tests.browser.embed_seed ORIGIN SMTP_URL`.
"""

import json
import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from handoff.models import Agent  # noqa: E402  (they need the settings)
from tests import factories  # noqa: E402


def main() -> None:
    origin, smtp_url = sys.argv[1:]
    owner = factories.UserFactory.create(username="ada", first_name="Ada", last_name="Byron")
    agent = factories.owned_agent(owner, name="shop", display_name="Shop bot")
    Agent.objects.filter(pk=agent.pk).update(allowed_origins=[origin])
    facts = {
        "token": factories.token_of(agent).text,
        "inbox": factories.inbox_channel(agent, label="Shop team").pk,
        "mail": factories.email_channel(agent, smtp_url=smtp_url).pk,
    }
    sys.stdout.write(json.dumps(facts))


if __name__ == "__main__":
    main()
