"""A signed-in admin, and the desk that the pages show."""

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from handoff.models import Agent, Channel, Session
from tests import factories

SECRET = "smtp+tls://mailer:s3cr3t-w0rd@127.0.0.1:9"


@pytest.fixture
def boss(db: None) -> User:
    return User.objects.create_superuser("boss", "boss@example.com", "correct horse battery")


@pytest.fixture
def admin(boss: User) -> Client:
    client = Client()
    client.force_login(boss)
    return client


def staff(*permissions: str) -> Client:
    """A client of somebody who may enter the admin and has these permissions of `handoff`."""
    user = factories.UserFactory.create(is_staff=True)
    wanted = Permission.objects.filter(content_type__app_label="handoff", codename__in=permissions)
    user.user_permissions.set(wanted)
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def agent(db: None) -> Agent:
    return factories.AgentFactory.create(name="demo", display_name="Shop assistant")


@pytest.fixture
def inbox(agent: Agent) -> Channel:
    return factories.inbox_channel(agent)


@pytest.fixture
def mail(agent: Agent) -> Channel:
    return factories.email_channel(agent, smtp_url=SECRET, from_name="Shop")


@pytest.fixture
def session(agent: Agent, inbox: Channel) -> Session:
    talk = factories.conversation(agent, name="Ana")
    return factories.requested(agent, inbox, talk)
