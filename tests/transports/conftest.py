"""Fixtures of the transport tests."""

from collections.abc import Iterator

import pytest

from tests.fakes.smtp import SmtpServer


@pytest.fixture
def server() -> Iterator[SmtpServer]:
    """A mail server that takes everything."""
    with SmtpServer() as running:
        yield running
