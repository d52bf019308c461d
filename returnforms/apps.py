from django.apps import AppConfig


class ReturnFormsConfig(AppConfig):
    name = "returnforms"
    verbose_name = "Return forms"
