"""Saving a fitted estimator to a file."""

from __future__ import annotations

import os
from numbers import Integral
from typing import Any

import jax
from sklearn.utils.validation import check_is_fitted

from ... import storage

# Parameters that make sense for one run only. Files leave them out.
NOT_STORED = ("callback", "mesh", "checkpoint")


class Saved:
    """An estimator that can be saved without pickle, and loaded by `semigp.load`."""

    verbose: bool = False  # in files from before there were bars

    def save(self, path: str | os.PathLike) -> None:
        """Write the fitted model to a file of arrays and JSON, usually ``name.semigp``.

        A callback, a mesh, a folder for checkpoints, `verbose`, and a random state that is not a number are left out.
        """
        from ...version import __version__
        from ..stored import stored_classes

        check_is_fitted(self)
        about = {"estimator": type(self).__name__, "semigp": __version__, "jax": jax.__version__}
        storage.write(path, self, stored_classes(), about)

    def _stored(self) -> dict[str, Any]:
        """The attributes that are written to a file."""
        state = vars(self).copy()
        state |= {name: None for name in NOT_STORED if name in state}
        state["verbose"] = False  # whoever loads the file decides
        if not isinstance(self.random_state, Integral):  # type: ignore[attr-defined]
            state["random_state"] = None
        return state
