#!/usr/bin/env python
"""Django's command line for this deployment."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    # A command may wait for the database as long as it takes: a migration does.
    os.environ.setdefault("HANDOFF_DATABASE_SECONDS", "0")
    execute_from_command_line(sys.argv)
