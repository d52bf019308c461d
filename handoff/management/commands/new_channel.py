"""`manage.py new_channel`: a channel from one JSON object, checked before anything is made."""

import json
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management import BaseCommand, CommandError, CommandParser

from handoff import links
from handoff.actions.agents import agent_named
from handoff.actions.channels import create_channel
from handoff.contract.jsontext import JSONProblem, loads
from handoff.management.shell import command
from handoff.models import Channel
from handoff.selectors.channels import NO_OWNER, deserted
from handoff.transports import carried, transport_class


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
        parser.add_argument("--json", action="store_true", help='print {"channel_id", …}')

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
        made = made_once(channel)
        if options["json"]:
            self.stdout.write(json.dumps({"channel_id": channel.pk, **made}))
            return
        self.stdout.write(f"Channel {channel.pk} is made: {channel}.")
        if made:
            self.stdout.write("For the provider; a secret is not shown again:")
        for key, value in made.items():
            self.stdout.write(f"  {key}: {value or '(PUBLIC_BASE_URL is not set)'}")
        self.stdout.write(f"See whether it works: {command(f'send_test {channel.pk}')}")


def made_once(channel: Channel) -> dict[str, str]:
    """The webhook's address and the secrets that we made, by key; empty for a kind without."""
    transport = transport_class(channel.kind)
    values = channel.opened_settings()
    made = {key: values[key] for key in sorted(transport.settings_model.made_keys)}
    if transport.hook is not None:
        made["webhook_url"] = links.hook_url(channel.kind, channel.uuid)
    return made


def parsed(text: str) -> dict[str, Any]:
    """The configuration as an object; raises CommandError without repeating what it holds."""
    try:
        config = loads(text.encode("utf-8", "surrogatepass"))
    except JSONProblem as problem:
        raise CommandError(f"--config is not readable JSON: {problem}") from problem
    if not isinstance(config, dict):
        raise CommandError('--config must be a JSON object, such as {"to": "sales@example.com"}.')
    return config
