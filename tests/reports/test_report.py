"""`semigp.report`: what stands on the pages. How they look is for test_browser.py."""

import re
import warnings
from html import unescape

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import semigp

from .data import KINDS, NASTY


def _text(path):
    return unescape(re.sub(r"<[^>]+>", " ", path.read_text(encoding="utf-8").partition("<main>")[2]))


def _headings(path):
    return re.findall(r"<h2[^>]*>(.*?)</h2>", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", KINDS)
def test_names_of_users_are_shown_and_never_run(pages, kind):
    content = pages[kind][0].read_text(encoding="utf-8")
    assert content.count("<script>") == 1  # our own
    assert len(content) < 1_000_000
    if kind in ("regression", "imputation", "comparison"):
        assert NASTY in _text(pages[kind][0])


@pytest.mark.parametrize("kind", ["regression", "imputation", "forecast"])
def test_the_python_on_the_page_runs(pages, kind, tmp_path, monkeypatch):
    """It makes a page with the same sections."""
    path, _, data = pages[kind]
    code = unescape(re.search(r"<pre><code>(.*?)</code></pre>", path.read_text(encoding="utf-8"), re.S).group(1))
    monkeypatch.chdir(tmp_path)
    series = pages["forecast"][1].forecast(1).past[:, 0]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Columns are left out")
        exec(code, {**data, "series": series})
    assert _headings(tmp_path / "report.html") == _headings(path)


def test_a_strange_row_is_named(pages):
    """Row 8 (counted from 1) has an output that is 20 too large."""
    strange = _text(pages["regression"][0]).partition("finds strange")[2]
    assert re.search(r"\b8\s+price\s+2\d\.", strange)


def test_left_out_columns_and_ways_are_named_with_reasons(pages):
    assert re.search(r"key\s+nearly every value is different", _text(pages["regression"][0]))
    assert "trees was left out: there are none." in _text(pages["comparison"][0])


def test_without_data_the_page_says_what_it_cannot_say(pages, tmp_path):
    path = semigp.report(pages["regression"][1], tmp_path / "bare.html")
    told = _text(path)
    assert "The training rows were not given to the report." in told
    assert "Does it hold?" not in told


def test_wide_and_long_tables_make_small_pages(tmp_path):
    """200 columns, and 30,000 rows: nothing grows with them without a limit."""
    random = np.random.default_rng(0)
    found = semigp.comparison.Comparison("x", ("RMSE",), [{"way": "semigp", "split": 0, "RMSE": 1.0}], {})
    for shape in ((60, 200), (30_000, 4)):
        X = np.where(random.random(shape) < 0.2, np.nan, random.normal(size=shape))
        path = semigp.report(found, tmp_path / "large.html", X)
        assert path.stat().st_size < 1_000_000
        assert ("The 20 with the most, of 200." in _text(path)) == (shape[1] == 200)


def test_what_has_no_report_is_refused(tmp_path):
    with pytest.raises(TypeError, match="There is no report on a dict"):
        semigp.report({}, tmp_path / "x.html")


def test_a_model_that_was_not_fitted_has_no_report(tmp_path):
    with pytest.raises(NotFittedError):
        semigp.report(semigp.GPImputer(), tmp_path / "page.html")
