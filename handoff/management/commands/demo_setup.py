"""`manage.py demo_setup`: makes what the demo shows, once, and says what to open."""

import secrets
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import BaseCommand
from django.urls import reverse

from handoff.actions.agents import create_agent
from handoff.actions.channels import create_channel
from handoff.actions.tokens import issue_token
from handoff.actions.writing import writing
from handoff.errors import NotAuthorised
from handoff.management import demo_token
from handoff.management.shell import command
from handoff.models import Agent
from handoff.selectors.tokens import caller_for

AGENT: Final = "demo"
ADMIN: Final = "admin"
_ACTOR: Final = "setup"


class Command(BaseCommand):
    help = "Make the demo's admin, agent and channels on the first start; say what to open."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        password = ""
        with writing():
            owner = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
            if owner is None:
                owner, password = _admin()
            agent = Agent.objects.filter(name=AGENT).first() or _agent(owner)
        token = _token(agent)
        for line in _what_to_open(owner, password, token):
            self.stdout.write(line)


def _admin() -> tuple[User, str]:
    password = secrets.token_urlsafe(12)
    user = User.objects.create_superuser(_free_name(), "", password)
    return user, password


def _free_name() -> str:
    taken = User.objects.filter(username=ADMIN).exists()
    return f"{ADMIN}-{secrets.token_hex(2)}" if taken else ADMIN


def _agent(owner: User) -> Agent:
    """The agent with its channels. What somebody takes away later is not made again."""
    agent = create_agent(AGENT, display_name="Demo shop assistant", owners=[owner], actor=_ACTOR)
    create_channel(agent, kind="owner_inbox", label="Shop team", config={}, actor=_ACTOR)
    create_channel(
        agent,
        kind="email",
        label="Sales support",
        config={"to": "sales@example.com", "estimated_response": "within 1 business day"},
        actor=_ACTOR,
    )
    return agent


def _token(agent: Agent) -> str:
    """The token in the private file, or a new one when that one is not good any more.

    Others stay: several processes with folders of their own may share this database.
    """
    kept = demo_token.read()
    try:
        if kept and caller_for(f"Bearer {kept}").agent == agent:
            return kept
    except NotAuthorised as problem:
        if problem.reason == "disabled":
            return kept
    issued = issue_token(agent, label="demo bot", actor=_ACTOR)
    demo_token.keep(issued.text)
    return issued.text


def _what_to_open(owner: User, password: str, token: str) -> list[str]:
    base = settings.PUBLIC_BASE_URL
    if password:
        login = f"user {owner.username}, password {password} (shown this once)"
    else:
        change = f"changepassword {owner.username}"
        login = f"user {owner.username} (new password: {command(change)})"
    mail = "mail goes to EMAIL_URL" if settings.EMAIL_URL else f"{base}{reverse('chat:mailbox')}"
    return [
        "",
        f"  Chat         {base}{reverse('chat:demo')}",
        f"  Mailbox      {mail}",
        f"  Owner inbox  {base}{reverse('inbox:list')}",
        f"  Admin        {base}{reverse('admin:index')}",
        f"  Sign in      {login}",
        f"  Agent token  {token}",
        "",
        f"  Links in mails begin with {base or 'nothing yet'} (PUBLIC_BASE_URL).",
        "",
    ]
