"""Fills an empty desk for the tests of sockets and polls; `python -m tests.realtime.seed`.

Prints one JSON object: tokens, session keys, a channel.
"""

import json
import sys

import django
from django.test import Client

django.setup()

from tests import factories  # noqa: E402  (they need the set-up)


def _session_of(user: object) -> str:
    client = Client()
    client.force_login(user)  # type: ignore[arg-type]
    return client.cookies["sessionid"].value


def main() -> None:
    owner, stranger = factories.UserFactory.create(), factories.UserFactory.create()
    agent = factories.owned_agent(owner, name="shop", display_name="Shop bot")
    other = factories.AgentFactory.create(name="other")
    json.dump(
        {
            "token": factories.token_of(agent).text,
            "other_token": factories.token_of(other).text,
            "channel": factories.inbox_channel(agent).pk,
            "owner": _session_of(owner),
            "stranger": _session_of(stranger),
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
