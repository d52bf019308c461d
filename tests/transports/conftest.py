"""Fixtures of the transport tests."""

import datetime as dt
from collections.abc import Iterator

import pytest

from tests.fakes.providers import Providers
from tests.fakes.slack import FakeSlack
from tests.fakes.smtp import SmtpServer
from tests.fakes.telegram import FakeTelegram
from tests.fakes.whatsapp import FakeWhatsApp
from tests.transports.whatsapp_samples import documented


@pytest.fixture
def server() -> Iterator[SmtpServer]:
    """A mail server that takes everything."""
    with SmtpServer() as running:
        yield running


@pytest.fixture
def slack(providers: Providers) -> FakeSlack:
    """A workspace where the bot is a member of C0SUPPORT."""
    fake: FakeSlack = providers.fakes["slack"]
    return fake


@pytest.fixture
def telegram(providers: Providers) -> FakeTelegram:
    """A bot that Mia has started, and that is in a group and in a supergroup."""
    fake: FakeTelegram = providers.fakes["telegram"]
    return fake


@pytest.fixture
def meta(providers: Providers) -> FakeWhatsApp:
    """Meta, to whose number the person wrote an hour ago, with the templates of our docs."""
    fake: FakeWhatsApp = providers.fakes["whatsapp"]
    fake.templates = documented()
    fake.wrote(ago=dt.timedelta(hours=1))
    return fake
