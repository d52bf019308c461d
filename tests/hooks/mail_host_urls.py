"""The addresses of a desk that takes webhooks of mail hosts."""

from django.urls import include, path

from config import urls

urlpatterns = [path("hooks/anymail/", include("anymail.urls")), *urls.urlpatterns]
