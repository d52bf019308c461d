"""`/hooks/`: where providers post what happens in a channel."""

from django.urls import path

from handoff.hooks.door import Door

app_name = "hooks"
urlpatterns = [path("<slug:kind>/<uuid:channel_uuid>/", Door.as_view(), name="hook")]
