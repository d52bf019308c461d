from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('handoff', '0004_inbound'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='inboundevent',
            index=models.Index(models.F('processed_at'), condition=models.Q(('answered_at', None), models.Q(('answer', ''), _negated=True)), name='inbound_event_owes'),
        ),
    ]
