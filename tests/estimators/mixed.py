"""A frame with a column of every kind, whose columns tell about each other, and an output."""

import numpy as np
import pandas as pd

KINDS = ("amount", "count", "nullable", "flag", "answer", "grade", "place", "day")


def mixed_frame(n=60, seed=0, missing=0.15):
    """A frame without holes, the same with holes in every column, and an output."""
    random = np.random.default_rng(seed)
    a, b = random.normal(size=(2, n))
    grades = pd.Categorical.from_codes(np.digitize(a, [-0.7, 0.7]), ["low", "mid", "high"], ordered=True)
    truth = pd.DataFrame(
        {
            "amount": np.exp(a),
            "count": np.round(10.0 + 3.0 * b),
            "nullable": pd.array(np.round(5.0 * a).astype(int), "Int64"),
            "flag": pd.array(b > 0, "boolean"),
            "answer": np.where(a > 0, "yes", "no"),
            "grade": grades,
            "place": np.array(list("vwxyz"))[np.digitize(b, [-0.8, -0.2, 0.2, 0.8])],
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.round(30.0 * a), unit="D"),
        },
        index=np.arange(n) + 100,
    )
    holes = truth.mask(pd.DataFrame(random.random(truth.shape) < missing, truth.index, truth.columns))
    return truth, holes, a + np.sin(2.0 * b)
