"""Where every door stands."""

from django.conf import settings
from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("r/", include("returnforms.urls")),
    path("", include("handoff.chat.urls")),
    path("api/", include("handoff.api.urls")),
    path("inbox/", include("handoff.inbox.urls")),
    path(f"{settings.ADMIN_PATH}/", admin.site.urls),
]

handler500 = "config.outage.answer"
