"""Tables as people bring them: any scale, offset, pattern of holes, repeated rows, columns that say nothing."""

import os
from dataclasses import dataclass

import numpy as np
from hypothesis import Phase, settings
from hypothesis import strategies as st

# Every table costs a fit or two, and every new shape a compilation: a handful of tables of a few shapes in CI, 500 of
# any shape in the nightly profile.
_IS_NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
_ROWS = st.integers(2, 40) if _IS_NIGHTLY else st.sampled_from([2, 5, 17, 40])
_COLUMNS = st.tuples(st.integers(1, 3), st.integers(1, 2)) if _IS_NIGHTLY else st.sampled_from([(1, 2), (2, 1), (3, 1)])
# What fails is small as it is: looking for something smaller would cost hundreds of fits.
some = settings(
    max_examples=settings.default.max_examples if _IS_NIGHTLY else 6,
    phases=[phase for phase in Phase if phase not in (Phase.shrink, Phase.explain)],
)


@dataclass(frozen=True)
class Rows:
    """Inputs with holes, outputs, and what they were before anything was lost."""

    X: np.ndarray
    y: np.ndarray
    complete: np.ndarray

    def __repr__(self):
        return f"Rows(X={self.X!r}, y={self.y!r})".replace("\n", "")


@st.composite
def rows(draw, scales=True):
    """2 to 40 rows of 1 to 3 inputs and 1 or 2 outputs."""
    n, (q, p) = draw(_ROWS), draw(_COLUMNS)
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = random.normal(size=(n, q))
    kind = draw(st.sampled_from(["plain", "plain", "repeated", "collinear", "constant", "whole numbers"]))
    if kind == "repeated":
        X[n // 2 :] = X[: n - n // 2]
    elif kind == "collinear":
        X[:, -1] = 2.0 * X[:, 0]
    elif kind == "constant":
        X[:, -1] = 1.0
    elif kind == "whole numbers":
        X = np.round(3 * X)
    y = np.sin(X @ random.normal(size=(q, p))) + X[:, :1]
    y += draw(st.sampled_from([0.0, 1e-6, 0.1, 10.0])) * random.normal(size=(n, p))
    if draw(st.integers(0, 9)) == 0:
        y[:, 0] = 3.0
    if scales:
        for table in (X, y):
            for column in range(table.shape[1]):
                scale, offset = 10.0 ** draw(st.integers(-8, 8)), draw(st.sampled_from([0.0, 0.0, 1.0, -1e3, 1e5]))
                table[:, column] = scale * (table[:, column] + offset)
    holes = np.where(random.random(X.shape) < draw(st.sampled_from([0.0, 0.2, 0.6])), np.nan, X)
    holes[0] = X[0]  # no column is lost altogether
    return Rows(holes, y, X)


def have_units(table):
    """Whether every column changes, as far as it is known."""
    return all(np.all(np.nanmax(part, axis=0) > np.nanmin(part, axis=0)) for part in (table.X, table.y))


def same_up_to(found, expected, y, share):
    """Whether predictions agree up to a share of the spread of the outputs, column by column."""
    spread = np.maximum(np.std(y, axis=0), 1e-12 * np.abs(y).max(axis=0))
    return bool(np.all(np.abs(found - expected) <= share * spread))
