"""Where every door stands."""

from django.conf import settings
from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("r/", include("returnforms.urls")),
    path("", include("handoff.chat.urls")),
    path("", include("handoff.files.urls")),
    path("api/", include("handoff.api.urls")),
    path("", include("handoff.mcp.urls")),
    path("hooks/", include("handoff.hooks.urls")),
    path("inbox/", include("handoff.inbox.urls")),
    path(f"{settings.ADMIN_PATH}/", admin.site.urls),
]

if settings.ANYMAIL:
    urlpatterns.insert(0, path("hooks/anymail/", include("anymail.urls")))

handler400 = "config.handlers.bad_request"
handler403 = "config.handlers.forbidden"
handler404 = "config.handlers.not_found"
handler500 = "config.handlers.failed"
