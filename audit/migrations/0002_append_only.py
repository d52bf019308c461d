"""The database itself refuses to change the trail: rows come in and stay as they are."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor as Editor

TABLE = "audit_event"
REFUSAL = "the audit trail is append-only"

POSTGRESQL = [
    f"""
    CREATE FUNCTION {TABLE}_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION '{REFUSAL}' USING ERRCODE = 'insufficient_privilege'; END $$
    """,
    f"""
    CREATE TRIGGER {TABLE}_rows BEFORE UPDATE OR DELETE ON {TABLE}
    FOR EACH ROW EXECUTE FUNCTION {TABLE}_refuse()
    """,
    f"""
    CREATE TRIGGER {TABLE}_truncate BEFORE TRUNCATE ON {TABLE}
    FOR EACH STATEMENT EXECUTE FUNCTION {TABLE}_refuse()
    """,
]
POSTGRESQL_BACK = [
    f"DROP TRIGGER {TABLE}_truncate ON {TABLE}",
    f"DROP TRIGGER {TABLE}_rows ON {TABLE}",
    f"DROP FUNCTION {TABLE}_refuse()",
]
# An upsert on SQLite replaces a row without a DELETE trigger, so an insert over one is refused too.
SQLITE = [
    f"""
    CREATE TRIGGER {TABLE}_update BEFORE UPDATE ON {TABLE}
    BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END
    """,
    f"""
    CREATE TRIGGER {TABLE}_delete BEFORE DELETE ON {TABLE}
    BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END
    """,
    f"""
    CREATE TRIGGER {TABLE}_replace BEFORE INSERT ON {TABLE}
    WHEN EXISTS (SELECT 1 FROM {TABLE} WHERE id = NEW.id)
    BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END
    """,  # noqa: S608  (both names are constants of this file)
]
SQLITE_BACK = [f"DROP TRIGGER {TABLE}_{name}" for name in ("replace", "delete", "update")]


def protect(apps: Apps, schema_editor: Editor) -> None:
    run(schema_editor, POSTGRESQL, SQLITE)


def unprotect(apps: Apps, schema_editor: Editor) -> None:
    run(schema_editor, POSTGRESQL_BACK, SQLITE_BACK)


def run(schema_editor: Editor, postgresql: list[str], sqlite: list[str]) -> None:
    vendor = schema_editor.connection.vendor
    for statement in postgresql if vendor == "postgresql" else sqlite:
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial")]
    operations = [migrations.RunPython(protect, unprotect)]
