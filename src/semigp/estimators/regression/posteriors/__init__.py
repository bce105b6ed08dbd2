"""The forms that q(X) can take. `base` says what a form does, and every other file is one form."""

from .base import Fitted, PosteriorForm
from .gaussian import fit_gaussian
from .mixture import fit_mixture
from .particles import fit_particles
from .published import fit_published

# The forms, by the values of the parameter `posterior`.
FORMS: dict[str, PosteriorForm] = {"mixture": fit_mixture, "gaussian": fit_gaussian}

__all__ = ["FORMS", "Fitted", "PosteriorForm", "fit_gaussian", "fit_mixture", "fit_particles", "fit_published"]
