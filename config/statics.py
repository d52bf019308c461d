"""Where pages name their static files."""

from django.contrib.staticfiles.storage import ManifestStaticFilesStorage


class HashedFiles(ManifestStaticFilesStorage):
    """Every name holds a digest of the file, also where one JavaScript module imports another:
    else a browser could run half of an old version with half of a new one.
    """

    support_js_module_import_aggregation = True
