from typing import Any

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import F, OuterRef, Subquery, Sum
from django.db.models.functions import Greatest


def count(apps: Any, schema_editor: object) -> None:
    """Say of each file whose room it takes, and of each agent how much its files take."""
    file, shelf, conversation = (
        apps.get_model("handoff", name) for name in ("File", "Shelf", "Conversation")
    )
    owner = conversation.objects.filter(pk=OuterRef("conversation")).values("agent")
    file.objects.filter(conversation__isnull=False).update(agent=Subquery(owner[:1]))
    kept = file.objects.filter(deleted_at=None, agent__isnull=False).order_by()
    sums = kept.values("agent").annotate(taken=Sum(Greatest(F("size"), 4096)))
    shelf.objects.bulk_create(shelf(agent_id=row["agent"], taken=row["taken"]) for row in sums)


class Migration(migrations.Migration):

    dependencies = [
        ('handoff', '0010_files'),
    ]

    operations = [
        migrations.CreateModel(
            name='Shelf',
            fields=[
                ('agent', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='shelf', serialize=False, to='handoff.agent')),
                ('taken', models.PositiveBigIntegerField(default=0)),
            ],
        ),
        migrations.AddField(
            model_name='file',
            name='agent',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='handoff.agent'),
        ),
        migrations.RunPython(count, migrations.RunPython.noop, elidable=True),
    ]
