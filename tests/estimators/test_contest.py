"""Who wins the contest of the forms of q(X)."""

import pytest

from semigp.estimators.contest import Contest


@pytest.mark.parametrize(("error", "winner"), [(0.02, "gaussian"), (0.03, "mixture")])
def test_the_gaussian_must_win_by_two_standard_errors(error, winner):
    assert Contest(mixture=0.10, gaussian=0.05, error=error, n_rows=16).winner == winner
