"""The manifest of a Slack app for this desk: what to paste where Slack makes or changes one.

https://docs.slack.dev/reference/app-manifest
"""

import json
from typing import Any, Final

NAME: Final = "Handoff Desk"
SCOPES: Final = (
    "channels:history",
    "channels:read",
    "chat:write",
    "commands",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
)
EVENTS: Final = ("message.channels", "message.groups", "message.im")
COMMAND: Final = "/release"


def manifest(hook_url: str) -> str:
    """JSON to paste. One address takes the events and the command, of all channels of the app.

    With "" for the address the app can only post: that is enough to get the token and the
    signing secret, which the desk has to know before Slack asks it to prove the address.
    """
    features: dict[str, Any] = {
        "app_home": {
            "home_tab_enabled": False,
            "messages_tab_enabled": True,
            "messages_tab_read_only_enabled": False,
        },
        "bot_user": {"display_name": NAME, "always_online": True},
    }
    settings: dict[str, Any] = {
        "org_deploy_enabled": False,
        "socket_mode_enabled": False,
        "token_rotation_enabled": False,
    }
    if hook_url:
        features["slash_commands"] = [
            {
                "command": COMMAND,
                "url": hook_url,
                "description": "Hand a conversation back to the assistant",
                "usage_hint": "h7… note",
                "should_escape": False,
            }
        ]
        settings["event_subscriptions"] = {"request_url": hook_url, "bot_events": list(EVENTS)}
    app = {
        "display_information": {
            "name": NAME,
            "description": "Asks people for help when an AI agent is stuck",
        },
        "features": features,
        "oauth_config": {"scopes": {"bot": list(SCOPES)}},
        "settings": settings,
    }
    return json.dumps(app, indent=2, ensure_ascii=False)
