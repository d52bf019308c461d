"""The two sizes of a fault test: a quick one for every run, the whole one for bin/test --full."""

import pytest


def sizes(*, quick: int, full: int) -> pytest.MarkDecorator:
    """Gives the test its `size`; the quick one is left out by `--fast`."""
    return pytest.mark.parametrize(
        "size",
        [
            pytest.param(quick, id="quick", marks=pytest.mark.slow),
            pytest.param(full, id="full", marks=[pytest.mark.slow, pytest.mark.full]),
        ],
    )
