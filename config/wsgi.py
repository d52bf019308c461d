"""Pages, REST and static files as one WSGI application: what the pool runs, or gunicorn would."""

import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from whitenoise import WhiteNoise

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

_HASHED = r"\.[0-9a-f]{12}\."
"""Part of every file name that ManifestStaticFilesStorage makes: such a file never changes."""

_pages = get_wsgi_application()
application = WhiteNoise(
    _pages,
    root=str(settings.STATIC_ROOT) if settings.STATIC_ROOT.is_dir() else None,
    prefix=settings.STATIC_URL,
    immutable_file_test=_HASHED,
    add_headers_function=lambda headers, path, url: headers.__setitem__(
        "X-Content-Type-Options", "nosniff"
    ),
)
