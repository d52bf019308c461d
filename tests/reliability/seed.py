"""Fills an empty desk; `python -m tests.reliability.seed <mail server URL>` prints what it made."""

import json
import sys
from typing import Any

import django
from django.test import Client

django.setup()

from tests import factories  # noqa: E402  (they need the set-up)


def main(smtp_url: str) -> None:
    owner = factories.UserFactory.create()
    agent = factories.owned_agent(owner, name="shop", display_name="Shop bot")
    browser = Client()
    browser.force_login(owner)
    options: dict[str, Any] = {"contact_limit_per_hour": 1_000_000, "idle_minutes": 1}
    made = {
        "token": factories.token_of(agent).text,
        "owner": browser.cookies["sessionid"].value,
        "email": factories.email_channel(agent, smtp_url=smtp_url, **options).pk,
        "inbox": factories.inbox_channel(agent, **options).pk,
    }
    json.dump(made, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
