"""`manage.py new_channel`: a channel from one JSON object, checked before anything is made."""

import json
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management import BaseCommand, CommandError, CommandParser

from handoff.actions.agents import agent_named
from handoff.actions.channels import create_channel
from handoff.contract.jsontext import JSONProblem, loads
from handoff.management.shell import command
from handoff.models import Channel
from handoff.selectors.channels import NO_OWNER, deserted
from handoff.transports import carried


class Command(BaseCommand):
    help = "Make a channel of an agent. All problems of its configuration are said at once."

    def add_arguments(self, parser: CommandParser) -> None:
        kinds = ", ".join(sorted(carried()))
        parser.add_argument("--agent", required=True, metavar="NAME")
        parser.add_argument("--kind", required=True, help=f"one of {kinds}")
        parser.add_argument("--label", required=True, help="such as “Sales support”")
        parser.add_argument(
            "--config",
            default="{}",
            metavar="JSON",
            help='settings of the kind and options, such as \'{"to": "sales@example.com"}\'',
        )
        parser.add_argument("--json", action="store_true", help='print {"channel_id"}')

    def handle(self, *args: Any, **options: Any) -> None:
        config = parsed(options["config"])
        try:
            channel = create_channel(
                agent_named(options["agent"]),
                kind=options["kind"],
                label=options["label"],
                config=config,
                actor="shell",
            )
        except ValidationError as error:
            raise CommandError("\n".join(error.messages)) from error
        if deserted(Channel.objects.filter(pk=channel.pk)).exists():
            self.stderr.write(NO_OWNER)
        if options["json"]:
            self.stdout.write(json.dumps({"channel_id": channel.pk}))
            return
        self.stdout.write(f"Channel {channel.pk} is made: {channel}.")
        self.stdout.write(f"See whether it works: {command(f'send_test {channel.pk}')}")


def parsed(text: str) -> dict[str, Any]:
    """The configuration as an object; raises CommandError without repeating what it holds."""
    try:
        config = loads(text.encode("utf-8", "surrogatepass"))
    except JSONProblem as problem:
        raise CommandError(f"--config is not readable JSON: {problem}") from problem
    if not isinstance(config, dict):
        raise CommandError('--config must be a JSON object, such as {"to": "sales@example.com"}.')
    return config
