"""Private modules of scikit-learn are used in one file, which works with the version that is installed."""

import re
from numbers import Integral
from pathlib import Path

import numpy as np
import sklearn

import semigp

PRIVATE = re.compile(r"^\s*from sklearn(?:\.\w+)*\.(_\w+)|^\s*from sklearn[\w.]* import .*\b(_\w+)", re.M)


def test_private_imports_are_in_one_file():
    package = Path(semigp.__file__).parent
    found = {
        str(path.relative_to(package)) for path in package.rglob("*.py") if PRIVATE.search(path.read_text("utf-8"))
    }
    assert found == {"estimators/common/sklearn_private.py"}


def test_they_do_what_we_rely_on():
    """Seen with scikit-learn 1.9.1, the lock file's version. Where this fails, mend `sklearn_private` alone."""
    from semigp.estimators.common.sklearn_private import (
        HasMethods,
        Interval,
        StrOptions,
        check_sample_weight,
        take_rows,
    )

    told = f"scikit-learn {sklearn.__version__}"
    assert Interval(Integral, 1, None, closed="left").is_satisfied_by(1), told
    assert not Interval(Integral, 1, None, closed="left").is_satisfied_by(0), told
    assert StrOptions({"auto"}).is_satisfied_by("auto"), told
    assert HasMethods(["fit"]).is_satisfied_by(semigp.GPImputer()), told
    assert check_sample_weight(None, [[1.0], [2.0]]).tolist() == [1.0, 1.0], told
    assert take_rows(np.eye(3), np.array([2])).tolist() == [[0.0, 0.0, 1.0]], told
