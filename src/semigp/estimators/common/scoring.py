"""The score of a regressor on outputs of which some are missing."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_consistent_length

from .numbers import read_numbers
from .sklearn_private import take_rows


class ScoresKnownRows:
    """A regressor that is scored on the rows whose outputs are known."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of the predictions of the rows in which all outputs are known: 1 is perfect, 0 as good as the mean."""
        outputs = read_numbers(y, "y", ensure_2d=False)
        check_consistent_length(X, outputs)
        known = np.flatnonzero(~np.isnan(outputs.reshape(len(outputs), -1)).any(axis=1))
        if len(known) < 2:
            raise ValueError(f"y has {len(known)} rows in which all outputs are known; a score needs 2.")
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        found = self.predict(take_rows(X, known))  # type: ignore[attr-defined]
        return float(r2_score(outputs[known], found, sample_weight=weights))
