"""Where a search starts. Oracle: NumPy's singular vectors."""

import numpy as np

from semigp.estimators.common.starts import centres, principal_components


def test_principal_components(random):
    """Scores of unit mean square, orthogonal; beyond the rank there is small noise."""
    Y = random.normal(size=(30, 2)) @ random.normal(size=(2, 5))
    found = principal_components(Y, 3)
    np.testing.assert_allclose(found[:, :2].T @ found[:, :2] / 30, np.eye(2), atol=1e-12)
    left = np.linalg.svd(Y, full_matrices=False)[0][:, :2] * np.sqrt(30)
    np.testing.assert_allclose(np.abs(found[:, :2]), np.abs(left), atol=1e-10)
    assert 0.03 < found[:, 2].std() < 0.3


def test_centres_of_fewer_rows_than_asked_for():
    rows = np.repeat([[0.0, 1.0], [2.0, 3.0]], 5, axis=0)
    found = centres(rows, 4, 0)
    np.testing.assert_allclose(found[np.argsort(found[:, 0])], [[0.0, 1.0], [2.0, 3.0]])
