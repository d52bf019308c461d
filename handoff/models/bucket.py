"""How fast each caller was: one row a bucket that is not full."""

from django.db import models


class Bucket(models.Model):
    """A token bucket in one time stamp: when it will be full again.

    A bucket without a row is full, so a row whose time has passed says nothing and may go. Names
    hold ids and keyed hashes, never an address. There is no index on `full_at` on purpose: every
    let-through call writes it, and only the sweep looks for it.
    """

    name = models.CharField(max_length=80, primary_key=True)
    full_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
