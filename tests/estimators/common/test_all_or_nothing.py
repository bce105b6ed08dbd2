"""A fit that ends with an exception leaves no trace."""

import pytest

from semigp.estimators.common.all_or_nothing import all_or_nothing


class _Model:
    def __init__(self):
        self.parameter = 1

    @all_or_nothing
    def fit(self, error=None):
        """Fits."""
        self.parameter, self.found_ = 2, 3
        if error is not None:
            raise error
        return self


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt("no")])
def test_after_an_error_all_is_as_before(error):
    model = _Model()
    with pytest.raises(type(error), match="no"):
        model.fit(error)
    assert vars(model) == {"parameter": 1}
    assert vars(model.fit()) == {"parameter": 2, "found_": 3}
    assert model.fit.__doc__ == "Fits."
