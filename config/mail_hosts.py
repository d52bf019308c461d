"""The webhooks of mail hosts, which django-anymail verifies: off unless ANYMAIL says how."""

import json
from importlib.util import find_spec
from typing import Any

from django.core.exceptions import ImproperlyConfigured


def webhooks_of_mail_hosts(given: str) -> dict[str, Any]:
    """The settings of django-anymail, from the JSON object in ANYMAIL; empty for none.

    Raises ImproperlyConfigured without a secret: its addresses would take mail from anybody.
    """
    if not given.strip():
        return {}
    try:
        read = json.loads(given)
    except ValueError:
        read = None
    secret = read.get("WEBHOOK_SECRET") if isinstance(read, dict) else None
    if not isinstance(secret, str) or len(secret.partition(":")[2]) < 8:
        raise ImproperlyConfigured(
            'ANYMAIL must be a JSON object with WEBHOOK_SECRET, "user:password" of at least 8 '
            "characters after the colon (docs/channels/email.md)"
        )
    if find_spec("anymail") is None:
        raise ImproperlyConfigured(
            "ANYMAIL needs django-anymail: install it into the environment of the desk, as "
            "pip install 'handoff-desk[inbound-email]' does"
        )
    return {str(name): value for name, value in read.items()}
