"""Places are counted in all and for each key, and given back once."""

from handoff.actions.places import Places


def test_places_are_counted_in_all_and_for_each_key() -> None:
    places = Places()
    first, second = (places.take("a", total=3, of_one=2) for _ in range(2))
    assert first is not None
    assert second is not None
    assert places.take("a", total=3, of_one=2) is None
    assert places.take("b", total=3, of_one=2) is not None
    assert places.take("c", total=3, of_one=2) is None
    first()
    first()
    assert places.take("c", total=3, of_one=2) is not None
    assert places.take("c", total=3, of_one=2) is None
