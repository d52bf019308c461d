"""What was given to this agent by other agents of the desk."""

import logging
from typing import Any, Final

from handoff_client import answers
from handoff_client.answers import Answer, Received

log = logging.getLogger(__name__)
PAGE: Final = 50


def items(found: Received | Answer | None) -> list[dict[str, Any]]:
    """The handoffs of one page; none while the desk can't be asked."""
    if isinstance(found, Received) and found.is_success:
        data = (answers.json_object(found.body) or {}).get("data")
        if isinstance(data, list) and all(isinstance(item, dict) for item in data):
            return data
    log.warning("the desk did not say what was given to this agent")
    return []
