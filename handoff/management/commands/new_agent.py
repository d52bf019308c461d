"""`manage.py new_agent NAME`: an agent with a token, from the shell."""

import json
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management import BaseCommand, CommandError, CommandParser

from handoff.actions.agents import create_agent
from handoff.actions.tokens import issue_token
from handoff.actions.writing import writing


class Command(BaseCommand):
    help = "Make an agent and print its token, which is shown this once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="lower-case letters, digits, hyphens; for good")
        parser.add_argument("--display-name", default="", help="what people see; else the name")
        parser.add_argument(
            "--owner",
            action="append",
            default=[],
            metavar="USERNAME",
            help="a user who looks after it; may be given several times",
        )
        parser.add_argument("--json", action="store_true", help='print {"agent", "token"}')

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            owners = users_named(options["owner"])
            with writing():
                agent = create_agent(
                    options["name"],
                    display_name=options["display_name"],
                    owners=owners,
                    actor="shell",
                )
                issued = issue_token(agent, label="made with the agent", actor="shell")
        except ValidationError as error:
            raise CommandError("\n".join(error.messages)) from error
        if options["json"]:
            self.stdout.write(json.dumps({"agent": agent.name, "token": issued.text}))
            return
        self.stdout.write(f"Agent {agent.name} is made. Its token, shown this once:")
        self.stdout.write(issued.text)


def users_named(names: list[str]) -> list[User]:
    """The users of these names; raises ValidationError naming every one that there is not."""
    found = {user.get_username(): user for user in User.objects.filter(username__in=names)}
    missing = [name for name in names if name not in found]
    if missing:
        raise ValidationError([f"There is no user “{name}”." for name in missing])
    return [found[name] for name in dict.fromkeys(names)]
