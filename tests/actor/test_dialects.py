"""The registry of dialects."""

import pytest

from actor import DIALECTS, Dialect, get_dialect


@pytest.mark.parametrize("name", DIALECTS)
def test_every_registered_dialect_follows_the_protocol_under_its_own_name(name):
    dialect = get_dialect(name)
    assert isinstance(dialect, Dialect)
    assert dialect.name == name


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"'gemini' is unknown; known dialects: .*qwen, ui-tars"):
        get_dialect("gemini")
