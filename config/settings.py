"""All settings, read from the environment; `.env.example` explains every variable.

Sections stand in this order: place, secrets, web, apps, database, cache and pushes, mail, REST,
pages, logs, the desk itself.
"""

from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured
from django.utils.csp import CSP

from config import keys
from config.address import public_address
from config.mail_hosts import webhooks_of_mail_hosts
from handoff.contract.files import SUFFIXES

env = environ.Env()
BASE_DIR = Path(__file__).resolve().parent.parent
ENV_FILE = Path(env.str("HANDOFF_ENV_FILE", default=str(BASE_DIR / ".env")))
if ENV_FILE.is_file():
    environ.Env.read_env(ENV_FILE)

# --- place -----------------------------------------------------------------------------------
DATA_DIR = Path(env.str("HANDOFF_DATA", default=str(BASE_DIR / "data"))).expanduser().resolve()
DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
DEMO = env.bool("HANDOFF_DEMO", default=(DATA_DIR / "demo.json").is_file())


# --- secrets ---------------------------------------------------------------------------------
SECRET_KEY = env.str("SECRET_KEY", default="") or keys.kept(
    DATA_DIR / "secret_key", keys.secret_key()
)
SECRET_KEY_FALLBACKS = env.list("SECRET_KEY_FALLBACKS", default=[])
ENCRYPTION_KEYS: list[str] = env.list("HANDOFF_ENCRYPTION_KEYS", default=[]) or [
    keys.kept(DATA_DIR / "encryption_key", keys.fernet_key())
]

# --- web -------------------------------------------------------------------------------------
DEBUG = env.bool("DEBUG", default=False)
PUBLIC_BASE_URL: str = env.str("PUBLIC_BASE_URL", default="").rstrip("/")
_public = public_address(PUBLIC_BASE_URL)
ALLOWED_HOSTS: list[str] = env.list("ALLOWED_HOSTS", default=[]) or [
    *dict.fromkeys(["localhost", "127.0.0.1", "[::1]", *filter(None, [_public.hostname])])
]
CSRF_TRUSTED_ORIGINS: list[str] = env.list("CSRF_TRUSTED_ORIGINS", default=[])
if PUBLIC_BASE_URL:
    CSRF_TRUSTED_ORIGINS.append(f"{_public.scheme}://{_public.netloc}")
TRUST_PROXY: bool = env.bool("TRUST_PROXY", default=False)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TRUST_PROXY else None
_secure = _public.scheme == "https"
SESSION_COOKIE_SECURE = _secure
CSRF_COOKIE_SECURE = _secure
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
SECURE_HSTS_SECONDS = env.int("HSTS_SECONDS", default=0)
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CSP = {
    "default-src": [CSP.NONE],
    "style-src": [CSP.SELF],
    "script-src": [CSP.SELF],
    "connect-src": [CSP.SELF],
    "img-src": [CSP.SELF],
    "font-src": [CSP.SELF],
    "form-action": [CSP.SELF],
    "base-uri": [CSP.NONE],
    "frame-ancestors": [CSP.NONE],
}
X_FRAME_OPTIONS = "DENY"
ADMIN_PATH = env.str("ADMIN_PATH", default="admin").strip("/")
HTTP_THREADS = env.int("HTTP_THREADS", default=16)
MAX_BODY = 4 * 1024 * 1024
RECEIVE_SECONDS = env.float("HANDOFF_RECEIVE_SECONDS", default=60.0)
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_BODY
DATA_UPLOAD_MAX_NUMBER_FIELDS = 100
FILE_UPLOAD_MAX_MEMORY_SIZE = MAX_BODY
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
ASGI_APPLICATION = "config.asgi.application"
APPEND_SLASH = True

# --- apps ------------------------------------------------------------------------------------
INSTALLED_APPS = [
    "config.apps.DeskAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "rest_framework",
    "drf_spectacular",
    "audit",
    "handoff",
    "returnforms",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "returnforms.headers.ReturnFormHeaders",
    "handoff.api.headers.ApiHeaders",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "inbox:login"
LOGIN_REDIRECT_URL = "inbox:list"
LOGOUT_REDIRECT_URL = "inbox:login"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- database --------------------------------------------------------------------------------
SQLITE_BUSY_SECONDS = 20
DATABASE_SECONDS = env.float("HANDOFF_DATABASE_SECONDS", default=1.8)
DATABASE_URL: str = env.str("DATABASE_URL", default="")
if DATABASE_URL:
    _database = env.db_url_config(DATABASE_URL)
else:
    _database = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(DATA_DIR / "desk.sqlite3")}
if _database["ENGINE"].endswith("postgresql"):
    _database["ENGINE"] = "config.postgresql"
    _database["CONN_MAX_AGE"] = 0
    _database["CONN_HEALTH_CHECKS"] = True
    _milliseconds = round(DATABASE_SECONDS * 1000)
    _database["OPTIONS"] = {
        "connect_timeout": 2,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 15_000,
        # A server that is only slow says so itself, a little sooner than our own clock.
        "options": (
            f"-c statement_timeout={_milliseconds * 9 // 10}"
            f" -c lock_timeout={_milliseconds * 8 // 10}"
            f" -c idle_in_transaction_session_timeout={_milliseconds * 5}"
            f" -c client_connection_check_interval={_milliseconds}"
        ),
        **_database.get("OPTIONS", {}),
        "pool": {
            "min_size": 1,
            "max_size": HTTP_THREADS + 12,
            "timeout": DATABASE_SECONDS or 30.0,
            "reconnect_timeout": 1.0,
        },
    }
elif _database["ENGINE"].endswith("sqlite3"):
    _database["CONN_MAX_AGE"] = None
    _database["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": SQLITE_BUSY_SECONDS,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
    }
else:
    raise ImproperlyConfigured(
        "DATABASE_URL must name a PostgreSQL or SQLite database, such as "
        "postgres://user:password@host:5432/name"
    )
DATABASES = {"default": _database}

# --- cache and pushes ------------------------------------------------------------------------
REDIS_URL: str = env.str("REDIS_URL", default="")
HEARTBEAT_SECONDS = env.float("HANDOFF_HEARTBEAT_SECONDS", default=25.0)
WATCHER = env.bool("HANDOFF_WATCHER", default=True)
MAX_WAITERS = env.int("HANDOFF_MAX_WAITERS", default=2000)

# --- mail ------------------------------------------------------------------------------------
EMAIL_URL: str = env.str("EMAIL_URL", default="")
PRIVATE_TARGETS: list[str] = env.list("HANDOFF_PRIVATE_TARGETS", default=[])
MAIL_DIR = DATA_DIR / "mail"
_mail_host = _public.hostname or "localhost"
DEFAULT_FROM_EMAIL: str = env.str(
    "DEFAULT_FROM_EMAIL",
    default=f"handoff@{'localhost' if ':' in _mail_host else _mail_host}",
)

ANYMAIL = webhooks_of_mail_hosts(env.str("ANYMAIL", default=""))
if ANYMAIL:
    INSTALLED_APPS.append("anymail")

# --- REST ------------------------------------------------------------------------------------
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["handoff.api.auth.TokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["handoff.api.auth.HasToken"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "handoff.api.problems.answer_for",
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "handoff.api.bodies.OneFormat",
    "UNAUTHENTICATED_USER": None,
    "COMPACT_JSON": True,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Handoff Desk",
    "DESCRIPTION": "The handoff desk of an AI agent: one token, one URL, every answer a sentence.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": [],
    "SERVE_AUTHENTICATION": [],
    "COMPONENT_SPLIT_REQUEST": False,
    "SCHEMA_PATH_PREFIX": "/api",
    "PREPROCESSING_HOOKS": [],
    "POSTPROCESSING_HOOKS": [
        "handoff.api.openapi.add_waiting_routes",
        "handoff.api.openapi.add_openbot_token",
        "handoff.api.openapi_details.add_details",
    ],
}

# --- pages -----------------------------------------------------------------------------------
LANGUAGE_CODE = env.str("LANGUAGE_CODE", default="en")
_LANGUAGE_NAMES = {
    "en": "English",
    "de": "Deutsch",
    "fr": "Français",
    "es": "Español",
    "pt-br": "Português (Brasil)",
    "ar": "العربية",
    "ja": "日本語",
}
_spoken: list[str] = env.list("LANGUAGES", default=["en"])
if _unknown := sorted(set(_spoken) - set(_LANGUAGE_NAMES)):
    raise ImproperlyConfigured(
        f"LANGUAGES knows {', '.join(_LANGUAGE_NAMES)}, not {', '.join(_unknown)}"
    )
LANGUAGES = [(code, _LANGUAGE_NAMES[code]) for code in _spoken]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = env.str("TIME_ZONE", default="UTC")
USE_TZ = True
STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS: list[Path] = []
STORAGES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "config.statics.HashedFiles"},
}
MEDIA_ROOT = DATA_DIR / "files"
STORAGES["files"] = {
    "BACKEND": env.str("HANDOFF_FILES_STORAGE", default="")
    or "django.core.files.storage.FileSystemStorage",
    "OPTIONS": env.json("HANDOFF_FILES_OPTIONS", default={})
    or {
        "location": MEDIA_ROOT,
        "file_permissions_mode": 0o600,
        "directory_permissions_mode": 0o700,
    },
}

# --- logs ------------------------------------------------------------------------------------
LOG_LEVEL = env.str("LOG_LEVEL", default="INFO")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"masked": {"()": "config.logs.Masked"}},
    "formatters": {
        "line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": "line",
            "filters": ["masked"],
        }
    },
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    "loggers": {
        "django": {"handlers": [], "level": LOG_LEVEL, "propagate": True},
        "django.server": {"handlers": [], "level": LOG_LEVEL, "propagate": True},
        "daphne": {"level": "WARNING"},
        "channels_redis": {"level": "CRITICAL"},
        "django.tasks": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
        "httpcore2": {"level": "WARNING"},
    },
}

# --- the desk itself -------------------------------------------------------------------------
DISPATCH_SECONDS = env.float("HANDOFF_DISPATCH_SECONDS", default=10.0)
CALL_SECONDS = env.float("HANDOFF_CALL_SECONDS", default=20.0)
DISPATCH_SLOTS = 8
DISPATCH_SLOTS_PER_CHANNEL = 3
HANDOFFS_PER_MINUTE = env.int("HANDOFF_HANDOFFS_PER_MINUTE", default=30)
TURNS_PER_SECOND = env.int("HANDOFF_TURNS_PER_SECOND", default=20)
CALLS_PER_MINUTE = env.int("HANDOFF_CALLS_PER_MINUTE", default=600)
REFUSALS_PER_MINUTE = env.int("HANDOFF_REFUSALS_PER_MINUTE", default=60)
FORMS_PER_MINUTE = env.int("HANDOFF_FORMS_PER_MINUTE", default=10)
LOST_LINKS_PER_MINUTE = env.int("HANDOFF_LOST_LINKS_PER_MINUTE", default=60)
RELEASE_GUESSES_PER_MINUTE = env.int("HANDOFF_RELEASE_GUESSES_PER_MINUTE", default=10)
REPLIES_PER_HOUR = env.int("HANDOFF_REPLIES_PER_HOUR", default=200)
LOGINS_PER_ACCOUNT = env.int("HANDOFF_LOGINS_PER_ACCOUNT", default=10)
LOGINS_PER_ADDRESS = env.int("HANDOFF_LOGINS_PER_ADDRESS", default=30)
FILES_PER_MINUTE = env.int("HANDOFF_FILES_PER_MINUTE", default=20)
FILES_PER_CONVERSATION = env.int("HANDOFF_FILES_PER_CONVERSATION", default=50)
FILES_MB_PER_CONVERSATION = env.int("HANDOFF_FILES_MB_PER_CONVERSATION", default=100)
FILES_MB_PER_AGENT = env.int("HANDOFF_FILES_MB_PER_AGENT", default=1000)
FILES_MB = env.int("HANDOFF_FILES_MB", default=5000)
FILES_DAYS = env.int("HANDOFF_FILES_DAYS", default=90)
FILE_TYPES: list[str] = env.list("HANDOFF_FILE_TYPES", default=list(SUFFIXES))
if _unknown := sorted(set(FILE_TYPES) - set(SUFFIXES)):
    raise ImproperlyConfigured(
        f"HANDOFF_FILE_TYPES knows {', '.join(SUFFIXES)}, not {', '.join(_unknown)}"
    )
TRANSPORTS: dict[str, str] = env.dict("HANDOFF_TRANSPORTS", default={})
TELEGRAM_API_BASE = env.str("TELEGRAM_API_BASE", default="https://api.telegram.org").rstrip("/")
SLACK_API_BASE = env.str("SLACK_API_BASE", default="https://slack.com/api").rstrip("/")
DISCORD_API_BASE = env.str("DISCORD_API_BASE", default="https://discord.com/api/v10").rstrip("/")
WHATSAPP_API_BASE = env.str("WHATSAPP_API_BASE", default="https://graph.facebook.com").rstrip("/")
WHATSAPP_API_VERSION = env.str("WHATSAPP_API_VERSION", default="v25.0")
ROUTE: str = env.str("HANDOFF_ROUTE", default="") or "handoff.actions.ask_subscriber.ask_subscriber"
ROUTE_SECONDS = env.float("HANDOFF_ROUTE_SECONDS", default=10.0)
ROUTE_PLACES = env.int("HANDOFF_ROUTE_PLACES", default=4)
HOP_DEPTH = env.int("HANDOFF_HOP_DEPTH", default=3)
RELAY_PLACES = env.int("HANDOFF_RELAY_PLACES", default=4)
POLL_PLACES = env.int("HANDOFF_POLL_PLACES", default=4)
COLLECT_SECONDS = env.float("HANDOFF_COLLECT_SECONDS", default=30.0)
WEBHOOK_PLACES = env.int("HANDOFF_WEBHOOK_PLACES", default=4)
WEBHOOK_BACKLOG = env.int("HANDOFF_WEBHOOK_BACKLOG", default=10_000)
WEBHOOK_OVERLAP_HOURS = env.float("HANDOFF_WEBHOOK_OVERLAP_HOURS", default=24.0)
WORKER_SECONDS = env.float("HANDOFF_WORKER_SECONDS", default=2.0)
TASKS = {"default": {"BACKEND": "django.tasks.backends.immediate.ImmediateBackend"}}
TEST_RUNNER = "django.test.runner.DiscoverRunner"
