"""Discord's calls to us: interactions, signed as Discord signs them, and as it does not."""

import json
import time
from collections.abc import Mapping
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.fakes.providers import Delivery

APPLICATION: Final = "1234567890123456789"
GUILD: Final = "1111111111111111111"
SEED: Final = bytes(range(32))
PUBLIC_KEY: Final = Ed25519PrivateKey.from_private_bytes(SEED).public_key().public_bytes_raw().hex()
EPOCH: Final = 1_420_070_400_000
MIA: Final = {"id": "5555555555555555555", "username": "mia", "global_name": "Mia M."}


def snowflake(number: int) -> str:
    """Of now: larger than the numbers that JavaScript can hold, and growing with `number`."""
    return str(((int(time.time() * 1000) - EPOCH) << 22) + number)


def interaction(number: int = 0, **fields: Any) -> dict[str, Any]:
    """A ping, with changes."""
    return {
        "id": snowflake(number),
        "application_id": APPLICATION,
        "type": 1,
        "token": "anInteractionToken",
        "version": 1,
        "locale": "en-US",
        **fields,
    }


def command(
    name: str, options: Mapping[str, Any], *, channel: Mapping[str, Any], **fields: Any
) -> dict[str, Any]:
    """A slash command that Mia typed in a channel, with changes."""
    typed = [{"name": key, "type": 3, "value": value} for key, value in options.items()]
    data = {"id": "6666666666666666666", "name": name, "type": 1, "options": typed}
    return interaction(
        **{
            "type": 2,
            "guild_id": GUILD,
            "channel_id": channel["id"],
            "channel": channel,
            "member": {"user": MIA, "nick": "Mia", "roles": [], "permissions": "0"},
            "data": data,
            **fields,
        }
    )


def signed(
    body: Mapping[str, Any] | bytes,
    *,
    at: float | None = None,
    seed: bytes = SEED,
    headers: Mapping[str, str | None] | None = None,
) -> Delivery:
    """A call as Discord makes it. `headers` replaces some of its headers; None leaves one out."""
    raw = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
    timestamp = str(int(time.time() if at is None else at))
    key = Ed25519PrivateKey.from_private_bytes(seed)
    sent: dict[str, str | None] = {
        "X-Signature-Ed25519": key.sign(timestamp.encode() + raw).hex(),
        "X-Signature-Timestamp": timestamp,
        **(headers or {}),
    }
    kept = {name: value for name, value in sent.items() if value is not None}
    return Delivery(body=raw, headers=kept)
