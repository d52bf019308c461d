"""`/mcp`."""

from django.urls import path

from handoff.mcp.door import Mcp

app_name = "mcp"
urlpatterns = [path("mcp", Mcp.as_view(), name="mcp")]
