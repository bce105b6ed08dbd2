"""The forms that q(X) can take: `base` has the contract, every other file one answer."""

from .base import Fitted, PosteriorForm
from .gaussian import fit_gaussian
from .mixture import fit_mixture
from .published import fit_published

# By the name that a user gives.
FORMS: dict[str, PosteriorForm] = {"mixture": fit_mixture, "gaussian": fit_gaussian}

__all__ = ["FORMS", "Fitted", "PosteriorForm", "fit_gaussian", "fit_mixture", "fit_published"]
