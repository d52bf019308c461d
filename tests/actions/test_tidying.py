"""The chores of the slow round: one that fails is named, and the others are done."""

import re
from typing import Any, Final

import pytest
from django.db import DatabaseError, connection

from handoff import tasks

pytestmark = pytest.mark.django_db(transaction=True)
CHORES: Final = {
    "handoff_bucket": "forget_callers",
    "handoff_inboundevent": "forget_words",
    "handoff_file": "forget_files",
    "handoff_webhookcall": "forget_answers",
}


@pytest.mark.parametrize("broken", CHORES)
def test_a_chore_that_fails_is_named_and_the_others_are_done(broken: str) -> None:
    done = set()

    def breaks(execute: Any, sql: str, *rest: Any) -> Any:
        [table, *_] = re.findall(r'(?:FROM|UPDATE) "(\w+)"', sql) or [""]
        if table == broken:
            raise DatabaseError(f"{table} is broken")
        answer = execute(sql, *rest)
        done.add(table)
        return answer

    with connection.execute_wrapper(breaks), pytest.raises(tasks.Unfinished) as problem:
        tasks.sweep()
    assert str(problem.value) == CHORES[broken]
    assert set(CHORES) - done == {broken}
