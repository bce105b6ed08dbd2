"""Similar training steps. Oracles: series that are pieces of training series."""

import numpy as np

from semigp.estimators.dynamics.kinds.walks import nearest_walk

ROWS = np.column_stack([np.sin(np.arange(40) / 3.0), np.arange(40) % 20 / 5.0, np.repeat([0.0, 3.0], 20)])
LENGTHS = np.array([20, 20])


def test_a_piece_of_a_training_series_is_found():
    piece = ROWS[24:34].copy()
    piece[3:7, 1] = np.nan
    walk, nearest = nearest_walk(piece, ROWS, LENGTHS, 3)
    np.testing.assert_array_equal(walk, np.arange(24, 34))
    np.testing.assert_array_equal(nearest[:, 0], np.arange(24, 34))
    assert nearest.shape == (10, 3)


def test_where_nothing_is_known_the_walk_goes_on():
    piece = ROWS[24:34].copy()
    piece[4:8] = np.nan
    np.testing.assert_array_equal(nearest_walk(piece, ROWS, LENGTHS, 1)[0], np.arange(24, 34))


def test_walks_do_not_step_from_one_series_into_the_next():
    piece = np.concatenate([ROWS[15:20], ROWS[20:25]])
    walk, _ = nearest_walk(piece, ROWS, np.array([20, 20]), 1)
    np.testing.assert_array_equal(walk, np.arange(15, 25))  # it pays for the jump, because the rows are the same
    far = np.concatenate([ROWS[15:20], ROWS[19:20] + 0.01])
    np.testing.assert_array_equal(nearest_walk(far, ROWS, LENGTHS, 1)[0], [15, 16, 17, 18, 19, 19])
