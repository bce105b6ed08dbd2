"""The GP on labels against refits without each row, and the graph's covariance against its definition."""

import numpy as np
import scipy.optimize
from sklearn.metrics.pairwise import euclidean_distances

from semigp.core import label_gp
from semigp.core.label_gp import CovariancePart, LabelGP
from semigp.estimators.few_labels import row_graph
from semigp.estimators.few_labels.row_graph import RowGraph

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(14, 3))
LABELS = np.eye(2)[(ROWS[:, 0] > 0).astype(int)] - 0.5
WEIGHTS = RANDOM.uniform(0.5, 2.0, 14)


def parts(rows, others):
    square = euclidean_distances(rows, others, squared=True)
    return [CovariancePart(np.exp(-np.sqrt(square)), False), CovariancePart(square / 3.0, True)]


def test_labels_left_out_are_those_of_a_gp_without_them():
    """The same hyperparameters on the other thirteen rows; 1e-8."""
    gp = LabelGP(parts(ROWS, ROWS), LABELS, WEIGHTS)
    for left in range(14):
        kept = np.arange(14) != left
        covariance = sum(label_gp._covariances(parts(ROWS[kept], ROWS[kept]), gp._parameters))
        covariance += np.diag(np.exp(gp._parameters[-1]) / WEIGHTS[kept] + label_gp._JITTER)
        cross = sum(label_gp._covariances(parts(ROWS[[left]], ROWS[kept]), gp._parameters))
        np.testing.assert_allclose(gp.left_out[[left]], cross @ np.linalg.solve(covariance, LABELS[kept]), atol=1e-8)


def test_the_hyperparameters_are_at_a_mode(monkeypatch):
    """The loss that L-BFGS was given has the gradient it was given: finite differences, 1e-5."""
    seen = {}
    minimize = scipy.optimize.minimize

    def spy(loss, start, **options):
        seen["loss"], seen["start"] = loss, start
        return minimize(loss, start, **options)

    monkeypatch.setattr(label_gp.scipy.optimize, "minimize", spy)
    LabelGP(parts(ROWS, ROWS), LABELS, WEIGHTS)
    point = seen["start"] + 0.1
    numeric = scipy.optimize.approx_fprime(point, lambda p: seen["loss"](p)[0], 1e-6)
    np.testing.assert_allclose(seen["loss"](point)[1], numeric, atol=1e-4, rtol=1e-5)


def test_sharpness_is_at_the_mode_of_likelihood_and_prior():
    """A grid of a thousand factors; one row, which likelihood alone would make as sharp as can be."""
    means, classes, weights = np.array([[0.3, -0.3]]), np.array([0]), np.array([2.0])
    factor, value = label_gp.sharpen(means, classes, weights)
    grid = np.linspace(-3.0, 5.0, 1001)
    likelihood = -weights[0] * np.log1p(np.exp(-0.6 * np.exp(grid)))
    prior = -0.5 * ((grid - label_gp._SHARPNESS) / label_gp._SHARPNESS_SPREAD) ** 2
    np.testing.assert_allclose(value, (likelihood + prior).max(), atol=1e-4)
    np.testing.assert_allclose(np.log(factor), grid[np.argmax(likelihood + prior)], atol=0.02)


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
