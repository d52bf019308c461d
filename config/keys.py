"""Keys that a deployment does not give are made once, private, in its data directory."""

import secrets
from pathlib import Path


def kept(path: Path, made: str) -> str:
    """The text of a private file, made on first use; one maker wins when several start at once."""
    if not path.exists():
        part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        part.touch(mode=0o600)
        part.write_text(made + "\n")
        try:
            path.hardlink_to(part)
        except FileExistsError:
            pass  # another process starting at the same moment was first; its text counts
        finally:
            part.unlink()
    return path.read_text().strip()


def secret_key() -> str:
    return secrets.token_urlsafe(48)


def fernet_key() -> str:
    """32 random bytes as Fernet takes them."""
    return secrets.token_urlsafe(32) + "="
