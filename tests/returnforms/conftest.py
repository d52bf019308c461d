"""Every test here asks for a handoff through the real tool call."""

import pytest

from handoff.models import Session
from tests.returnforms import forms


@pytest.fixture
def session(db: None) -> Session:
    """An active handoff that asks for a field of every type; one of them is required."""
    return forms.requested()
