"""scikit-learn's own battery of checks."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from semigp import DeepGPRegressor, SemiDescribedGPRegressor, StreamingGPRegressor

SMALL = SemiDescribedGPRegressor(n_inducing=20, max_iter=20, n_draws=2)
DEEP = DeepGPRegressor(n_chains=1, n_inducing=20, max_iter=20, n_draws=2)
STREAM = StreamingGPRegressor(n_inducing=10, n_passes=3)


@pytest.mark.filterwarnings("ignore")  # twenty iterations are not enough, and say so
@parametrize_with_checks([SMALL])
def test_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([STREAM, DEEP])
def test_check_slow(estimator, check):
    check(estimator)


def test_all_checks_are_there():
    """A guard: the battery does not shrink unseen."""
    assert len(list(estimator_checks_generator(SMALL))) >= 40
