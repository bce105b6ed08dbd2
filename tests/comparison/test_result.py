"""`Comparison`: means, order and advice, from records whose answer can be computed by hand."""

import numpy as np
import pytest

from semigp.comparison import Comparison
from semigp.comparison.tasks.base import COVERAGE, OURS


def _comparison(ours, rival, seconds=(1.0, 1.0), coverage=(0.95, 0.95), left_out=None):
    records = []
    for way, values, cost, share in zip((OURS, "rival"), (ours, rival), seconds, coverage, strict=True):
        for split, value in enumerate(values):
            records.append({"way": way, "split": split, "RMSE": value, COVERAGE: share, "seconds": cost})
    return Comparison("a test", ("RMSE", COVERAGE), records, left_out or {})


def test_means_and_order():
    found = _comparison([1.0, 3.0], [1.0, 2.0])
    assert found.ways == ["rival", OURS]
    assert (found.best, found.n_splits, found.mean(OURS, "RMSE")) == ("rival", 2, 2.0)
    assert found.to_dict() == {
        "way": ["rival", OURS], "RMSE": [1.5, 2.0], COVERAGE: [0.95, 0.95], "seconds": [1.0, 1.0]
    }  # fmt: skip


def test_a_difference_is_paired():
    """0 and 1 apart: mean ½, standard error √(½)/√2 = ½."""
    np.testing.assert_allclose(_comparison([1.0, 3.0], [1.0, 2.0]).difference(OURS, "rival"), (0.5, 0.5))


@pytest.mark.parametrize(
    ("ours", "rival", "begins"),
    [
        ([1.0, 1.1, 1.0], [2.0, 2.1, 2.0], "semigp is the best way here: RMSE 1.03, rival 2.03."),
        ([2.0, 2.1, 2.0], [1.0, 1.1, 1.0], "rival is better here: its RMSE is 49% smaller"),
        ([2.0, 1.0, 2.0], [1.0, 2.1, 1.0], "semigp and rival are level here"),  # splits do not agree
        ([1.0, 1.0, 1.0], [1.01, 1.01, 1.01], "semigp and rival are level here"),  # one percent
    ],
)
def test_advice_is_honest(ours, rival, begins):
    assert _comparison(ours, rival).advice.startswith(begins)


def test_advice_speaks_of_time_and_of_intervals():
    level = [1.0, 1.0]
    assert "rival is quicker: 0.1 s a fit, semigp 9 s." in _comparison(level, level, (9.0, 0.1)).advice
    told = _comparison(level, level, coverage=(0.95, 0.6)).advice
    assert told.endswith("The 95 % intervals of semigp hold 95% of the values, those of rival 60%.")
    assert "do not rely on them" in _comparison(level, level, coverage=(0.5, 0.95)).advice


def test_text_and_html_show_every_way():
    found = _comparison([1.0], [2.0], left_out={"<other>": "no rows"})
    assert str(found).splitlines()[0] == "Compared: a test, 1 splits."
    assert "Left out: <other>, because no rows" in str(found)
    assert "&lt;other&gt;" in found._repr_html_()
    assert found._repr_html_().count("<tr>") == 3
