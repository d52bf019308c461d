"""What the product logs as an error while a test runs."""

import contextlib
import logging
from collections.abc import Iterator


class _Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []
        self.setFormatter(logging.Formatter("%(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@contextlib.contextmanager
def errors_logged() -> Iterator[list[str]]:
    """A list that grows by each record of level ERROR, with its traceback.

    What is below is dropped: a hundred thousand refusals would fill the memory of the run.
    """
    kept, root, disabled = _Kept(), logging.getLogger(), logging.root.manager.disable
    root.addHandler(kept)
    logging.disable(logging.WARNING)
    try:
        yield kept.lines
    finally:
        logging.disable(disabled)
        root.removeHandler(kept)
