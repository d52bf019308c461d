"""Prints the AG-UI events of one handoff as a front end gets them: `URL SESSION`.

Runs in an environment of its own.
"""

import json
import sys

from handoff_client import Desk
from handoff_client.ag_ui import follow

if __name__ == "__main__":
    url, session = sys.argv[1:]
    events = follow(Desk(url, "hd_token", timeout=5), session, seconds=20)
    lines = [
        json.loads(event.model_dump_json(by_alias=True, exclude_none=True)) for event in events
    ]
    print(json.dumps(lines))  # noqa: T201
