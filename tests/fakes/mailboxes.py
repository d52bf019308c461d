"""The mail servers of a test, empty and of its own."""

from collections.abc import Iterator

import pytest

from tests.fakes.imap import ImapServer
from tests.fakes.smtp import SmtpServer


@pytest.fixture
def smtp() -> Iterator[SmtpServer]:
    with SmtpServer() as running:
        yield running


@pytest.fixture
def mailbox() -> Iterator[ImapServer]:
    with ImapServer() as running:
        yield running
