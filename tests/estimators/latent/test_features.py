"""Features of the outputs."""

import numpy as np

from semigp.estimators.latent.features import Features


def test_orthonormal_over_the_rows_they_were_fitted_to(random):
    """To 1e-8: directions below 1e-6 of the largest are left out, and rounding grows by their inverse."""
    rows = random.normal(size=(40, 3))
    features = Features.of(rows, 0)
    found = features(rows)
    np.testing.assert_allclose(found.T @ found / 40, np.eye(found.shape[1]), atol=1e-8)
    assert found.shape[1] == 1 + 3 + 40 // 3


def test_a_row_does_not_depend_on_its_company(random):
    """And what every row can tell, a constant and itself, is among the features: least squares, 1e-8."""
    rows, new = random.normal(size=(40, 3)), random.normal(size=(5, 3))
    features = Features.of(rows, 0)
    np.testing.assert_allclose(features(new)[2], features(new[2:3])[0], rtol=1e-10)
    wanted = np.column_stack([np.ones(40), rows])
    weights = np.linalg.lstsq(features(rows), wanted, rcond=None)[0]
    np.testing.assert_allclose(features(new) @ weights, np.column_stack([np.ones(5), new]), atol=1e-8)
