"""The covariance on a graph of rows, against its definition."""

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from semigp.estimators.few_labels import row_graph
from semigp.estimators.few_labels.row_graph import RowGraph

RANDOM = np.random.default_rng(0)


def test_the_covariance_on_a_graph():
    """(κ + I - S)⁻² scaled to unit variance, S from its definition, row by row; and at a new row; 1e-10."""
    rows, new = RANDOM.normal(size=(40, 2)), np.array([[0.1, -0.2]])
    distances = euclidean_distances(rows)
    near = np.sort(distances, axis=1)  # itself first
    graph = np.zeros((40, 40))
    for i in range(40):
        for j in np.argsort(distances[i])[1:16]:
            graph[i, j] = graph[j, i] = np.exp(-4.0 * distances[i, j] ** 2 / (near[i, 8] * near[j, 8]))
    degree = graph.sum(axis=1)
    inverse = np.linalg.inv(1.01 * np.eye(40) - graph / np.sqrt(np.outer(degree, degree)))
    covariance = inverse @ inverse
    covariance /= np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    some = np.array([3, 17, 25])
    field = RowGraph(rows)
    np.testing.assert_allclose(field.covariance(some), covariance[:, some], atol=1e-10)

    away = euclidean_distances(new, rows)[0]
    neighbours = np.argsort(away)[:15]
    weights = np.exp(-4.0 * away[neighbours] ** 2 / (np.sort(away)[7] * near[neighbours, 8]))
    expected = weights @ covariance[neighbours][:, some] / weights.sum()
    np.testing.assert_allclose(field.extend(covariance[:, some], new), expected[None], atol=1e-10)


def test_the_smoothest_waves_are_nearly_everything(monkeypatch):
    """Beyond 3000 rows only some waves are used: here 100 of 300, correlations within .1 on average."""
    rows = RANDOM.normal(size=(300, 2))
    whole = RowGraph(rows).covariance(np.arange(5))
    monkeypatch.setattr(row_graph, "_MOST_ROWS", 100)
    monkeypatch.setattr(row_graph, "_WAVES", 100)
    assert np.mean(np.abs(RowGraph(rows).covariance(np.arange(5)) - whole)) < 0.1


def test_equal_rows_are_no_trouble():
    rows = np.repeat(RANDOM.normal(size=(4, 2)), 10, axis=0)
    covariance = RowGraph(rows).covariance(np.arange(40))
    np.testing.assert_allclose(np.diag(covariance), 1.0)
