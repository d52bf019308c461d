"""Makes the admin of this project our own site (config/admin_site.py)."""

from django.contrib.admin.apps import AdminConfig


class DeskAdminConfig(AdminConfig):
    default_site = "config.admin_site.DeskSite"
