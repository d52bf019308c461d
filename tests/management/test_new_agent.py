"""`manage.py new_agent`."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from handoff.models import Agent, Token
from handoff.selectors.tokens import caller_for
from tests import factories

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("new_agent", *arguments, stdout=out)
    return out.getvalue()


def test_it_prints_one_json_object_with_a_token_that_works() -> None:
    answer = json.loads(run("shop", "--json"))
    assert set(answer) == {"agent", "token"}
    assert caller_for(f"Bearer {answer['token']}").agent == Agent.objects.get(name="shop")


def test_it_takes_a_display_name_and_owners() -> None:
    owners = [factories.UserFactory.create() for _ in range(2)]
    named = [word for owner in owners for word in ("--owner", owner.username)]
    text = run("shop", "--display-name", "Shop assistant", *named)
    agent = Agent.objects.get()
    assert agent.display_name == "Shop assistant"
    assert set(agent.owners.all()) == set(owners)
    assert f"hd_{Token.objects.get().public_id}_" in text


@pytest.mark.parametrize("name", ["taken", "Not A Name", ""])
def test_a_name_that_cannot_be_is_refused_and_makes_nothing(name: str) -> None:
    factories.AgentFactory.create(name="taken")
    with pytest.raises(CommandError) as refused:
        run(name, "--json")
    assert refused.value.returncode == 1
    assert Agent.objects.count() == 1
    assert Token.objects.count() == 0


def test_every_unknown_owner_is_named_and_nothing_is_made() -> None:
    with pytest.raises(CommandError) as refused:
        run("shop", "--owner", "nobody", "--owner", "noone")
    assert "“nobody”" in str(refused.value)
    assert "“noone”" in str(refused.value)
    assert Agent.objects.count() == 0
