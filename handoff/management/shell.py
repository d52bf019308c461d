"""Commands as people can type them."""

from django.conf import settings


def command(words: str) -> str:
    """A manage.py command for the project's folder, with its data folder where that is another."""
    if settings.DATA_DIR == settings.BASE_DIR / "data":
        return f"./manage.py {words}"
    return f"HANDOFF_DATA={settings.DATA_DIR} ./manage.py {words}"
