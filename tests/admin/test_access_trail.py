"""Whatever changes who may do what in the admin leaves a row on the trail."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client

from audit.models import Event
from handoff.actions.agents import create_agent
from handoff.models import Agent
from tests import factories
from tests.admin.test_agents import ADD, NO_INLINES, change

PASSWORD = "another horse battery"


def rows() -> list[tuple[str, str, dict[str, Any]]]:
    found = Event.objects.filter(action="access.changed").order_by("pk")
    return list(found.values_list("actor", "reason", "details"))


def test_a_new_agent_and_what_it_was_given_stand_on_the_trail(admin: Client, boss: User) -> None:
    admin.post(ADD, {"name": "shop", "enabled": "on", "owners": [boss.pk]})
    actor = f"admin:{boss.pk}"
    assert rows() == [
        (actor, "agent added", {"fields": [], "owners_after": []}),
        (
            actor,
            "agent changed",
            {"fields": ["owners"], "owners_before": [], "owners_after": [boss.pk]},
        ),
    ]
    assert set(Event.objects.values_list("agent", flat=True)) == {"shop"}


def test_a_change_of_an_agent_stands_there_with_before_and_after(
    admin: Client, agent: Agent, boss: User
) -> None:
    agent.owners.add(boss)
    entered = {
        "display_name": "Ana's desk",
        "allowed_origins": "https://shop.example",
        **NO_INLINES,
    }
    admin.post(change(agent), entered)
    [(_, reason, details)] = rows()
    assert reason == "agent changed"
    assert details == {
        "fields": ["display_name", "enabled", "owners", "allowed_origins"],
        "enabled_before": True,
        "enabled_after": False,
        "owners_before": [boss.pk],
        "owners_after": [],
        "allowed_origins_before": [],
        "allowed_origins_after": ["https://shop.example"],
    }
    admin.post(change(agent), entered)
    assert len(rows()) == 1


@pytest.mark.django_db
def test_an_agent_that_is_made_from_the_shell_is_there_too() -> None:
    create_agent("shop", actor="shell")
    assert rows() == [("shell", "agent added", {"fields": [], "owners_after": []})]


def test_people_their_rights_and_passwords_stand_there_without_names(
    admin: Client, boss: User
) -> None:
    new = {"username": "mallory", "usable_password": "true"}
    admin.post("/admin/auth/user/add/", {**new, "password1": PASSWORD, "password2": PASSWORD})
    made = User.objects.get(username="mallory")
    entered: dict[str, Any] = {
        "username": "mallory",
        "is_active": "on",
        "is_staff": "on",
        "is_superuser": "on",
        "date_joined_0": f"{made.date_joined:%Y-%m-%d}",
        "date_joined_1": f"{made.date_joined:%H:%M:%S}",
    }
    assert admin.post(f"/admin/auth/user/{made.pk}/change/", entered).status_code == 302
    again = {"usable_password": "true", "password1": PASSWORD, "password2": PASSWORD}
    assert admin.post(f"/admin/auth/user/{made.pk}/password/", again).status_code == 302
    admin.post(f"/admin/auth/user/{made.pk}/delete/", {"post": "yes"})

    assert [(actor, reason) for actor, reason, _ in rows()] == [
        (f"admin:{boss.pk}", f"user {what}") for what in ("added", "changed", "changed", "deleted")
    ]
    added, changed, password, deleted = (details for _, _, details in rows())
    assert added["is_superuser_after"] is False
    assert {"Staff status", "Superuser status"} <= set(changed["fields"])
    assert (changed["user"], changed["is_superuser_after"]) == (made.pk, True)
    assert password["fields"] == ["password"]
    assert deleted == {"fields": [], "user": made.pk}
    trail = str(list(Event.objects.values()))
    assert "mallory" not in trail
    assert PASSWORD not in trail


def test_groups_and_the_deletion_of_many_stand_there(admin: Client) -> None:
    right = Permission.objects.get(codename="view_agent")
    admin.post("/admin/auth/group/add/", {"name": "Readers", "permissions": [right.pk]})
    group = Group.objects.get()
    users = [factories.UserFactory.create() for _ in range(2)]
    chosen = [user.pk for user in users]
    sent = {"action": "delete_selected", "_selected_action": chosen, "post": "yes"}
    admin.post("/admin/auth/user/", sent)
    assert not User.objects.filter(pk__in=chosen).exists()
    told = [(reason, details.get("group"), details.get("user")) for _, reason, details in rows()]
    assert told[0] == ("group added", group.pk, None)
    assert set(told[1:]) == {("user deleted", None, user.pk) for user in users}
