"""Several views of the same rows, explained by one set of latent inputs: manifold relevance determination."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import jax
import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ...core.numerics import checks
from ...core.search.report import Callback, FitReport
from ...core.views.fit import fit_views, stages
from ...core.views.model import ViewsModel, posteriors
from ...progress import told, watched
from ...runtime import computing
from ..common.all_or_nothing import all_or_nothing
from ..common.component import TOLERANCE
from ..common.notebook import ShownInNotebooks
from ..common.order import Arrangement
from ..common.relevance import slope_variance
from ..common.reports import Stopwatch, warn_of
from ..common.saving import Saved
from ..common.sklearn_private import Interval, StrOptions
from ..latent.row_beliefs import RowBeliefs
from .checks import check_aligned, check_given, check_name, check_rows, check_views
from .prediction import Mixture, ViewPosteriors
from .start import start_views
from .view_table import ViewTable

# A latent input matters to a view if its relevance there is at least this.
LEAST_RELEVANCE = 0.01
# The default number of inducing points of a view is one for this many rows, but between these two numbers.
_ROWS_PER_INDUCING, _INDUCING = 12, (25, 100)


class SharedGPLVM(Saved, ShownInNotebooks):
    """Several views of the same rows as noisy functions of one set of latent inputs.

    This is manifold relevance determination (Damianou et al. 2012). Every view has its own kernel, with a lengthscale
    for each latent input, so that a latent input may be shared by views or private to one of them. Entries of a view
    may be missing, and so may whole rows of it.

    A view is an array, a frame with columns of any kind, or a single column (n,). A single column of text, booleans or
    whole numbers holds labels: predicting it is classification. None marks a missing label; -1 is a label like others.

    Parameters
    ----------
    n_components : int
        The number of latent inputs, those that are shared and those that are private together.
    n_inducing : int, optional
        The number of inducing points of each view. By default a twelfth of the rows, at least 25 and at most 100.
    scaling : {"auto", "columns", "common"}
        How the columns of each view are scaled, as in `BayesianGPLVM`.
    output_noise : {"auto", "per-output", "shared"}
        Whether each column has its own noise and signal variance, or all columns of a view share them. With "auto",
        columns have their own if the largest standard deviation is more than twice the lower quartile. So the pixels
        of an image share them.
    max_iter : int
        The largest number of iterations of the optimiser after the first stage.
    callback : callable, optional
        Called with a `Progress` after every iteration. Returning True ends the fit there.
    random_state : int, RandomState or None
    verbose : bool
        Whether whatever takes longer than two seconds shows a bar: what it is doing, the share that is done, and about
        how long it takes. This needs rich.

    Attributes
    ----------
    view_names_ : list
        The names of the views, in the order of the rows of `relevance_`.
    embedding_, embedding_std_ : (n, n_components)
        Mean and standard deviation of q(x) of the training rows, from all of their views.
    relevance_ : (n_views, n_components)
        How much each view varies along each latent input, relative to the largest in that view, which is 1.
    shared_ : (k,)
        The numbers of the latent inputs with a relevance of 1 % or more in at least two views.
    private_ : dict
        For every view, the numbers of the latent inputs with a relevance of 1 % or more in that view alone.
    classes_ : dict
        For every view of labels, the labels.
    bound_ : float
        The bound on the log evidence of the scaled views, hyperpriors included.
    fit_report_ : FitReport
        Status, message, trace and every stage of the fit.
    n_iter_ : int
        The number of iterations of the optimiser, over all stages.

    Examples
    --------
    >>> import numpy as np
    >>> from semigp import SharedGPLVM
    >>> t = np.linspace(0, 6, 40)
    >>> views = {"a": np.column_stack([np.sin(t), np.cos(t)]), "b": np.column_stack([np.sin(t) ** 2, np.sin(2 * t)])}
    >>> model = SharedGPLVM(n_components=2, max_iter=50, random_state=0).fit(views)
    >>> bool(np.abs(model.predict({"a": views["a"]}, "b") - views["b"]).max() < 0.2)
    True
    """

    fit_report_: FitReport
    _parameter_constraints = {  # noqa: RUF012
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "n_inducing": [Interval(Integral, 1, None, closed="left"), None],
        "scaling": [StrOptions({"auto", "columns", "common"})],
        "output_noise": [StrOptions({"auto", "shared", "per-output"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "callback": [callable, None],
        "random_state": ["random_state"],
        "verbose": ["boolean"],
    }

    def __init__(
        self,
        n_components: int = 8,
        *,
        n_inducing: int | None = None,
        scaling: str = "auto",
        output_noise: str = "auto",
        max_iter: int = 300,
        callback: Callback | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_inducing = n_inducing
        self.scaling = scaling
        self.output_noise = output_noise
        self.max_iter = max_iter
        self.callback = callback
        self.random_state = random_state
        self.verbose = verbose

    @all_or_nothing
    def fit(self, views: Mapping[Any, Any], y: Any = None) -> SharedGPLVM:
        """Find the latent inputs of rows that are seen in several views, {name: table}. Row i is the same in all.

        NaN, None, NA and NaT are missing.
        """
        self._validate_params()
        watch = Stopwatch()
        check_views(views)
        self._tables = {name: ViewTable(name) for name in sorted(views, key=str)}
        self._values = {name: table.learn(views[name]) for name, table in self._tables.items()}
        check_rows(self._values, self.n_components)
        together = np.hstack([*self._values.values()])
        self._order = Arrangement.of(together, columns=np.arange(together.shape[1])).rows
        for name, table in self._tables.items():
            table.measure(self._values[name][self._order], self.scaling)
        with watched("fit", self.verbose), computing():
            self._fit(watch.told_to(told(self.callback)))
        self.fit_report_ = watch.noted_in(self.fit_report_)
        # The iteration limit is no failure here: more iterations raise the bound, but seldom improve the embedding.
        warn_of(self.fit_report_, ("failed",))
        return self

    def _fit(self, callback: Callback | None) -> None:
        rows = tuple(table.units.standard(self._values[name]) for name, table in self._tables.items())
        n, arranged = len(self._order), [each[self._order] for each in rows]
        n_inducing = self.n_inducing or int(np.clip(n // _ROWS_PER_INDUCING, *_INDUCING))
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        choice = {"per-output": True, "shared": False}.get(self.output_noise)
        per_output = [table.is_uneven if choice is None else choice for table in self._tables.values()]
        model, data = start_views(arranged, self.n_components, n_inducing, per_output, seed)
        model, self.fit_report_ = fit_views(model, data, stages(self.max_iter), TOLERANCE, callback)
        self._remember(model, np.asarray(data[0].rows))
        q_u = posteriors(model, data)
        self._model = ViewPosteriors(q_u, rows, self._order, self.embedding_, self.embedding_std_)

    def _remember(self, model: ViewsModel, numbers: np.ndarray) -> None:
        is_real = numbers >= 0
        order = np.argsort(self._order[numbers[is_real]])
        self.embedding_ = np.asarray(model.mean)[is_real][order]
        self.embedding_std_ = np.sqrt(np.asarray(model.variance)[is_real][order])
        self.view_names_ = list(self._tables)
        slopes = np.stack([slope_variance(view.kernel) for view in model.views]) * np.var(self.embedding_, axis=0)
        self.relevance_ = slopes / np.maximum(slopes.max(axis=1, keepdims=True), np.finfo(float).tiny)
        matters = self.relevance_ >= LEAST_RELEVANCE
        self.shared_ = np.flatnonzero(matters.sum(axis=0) > 1)
        alone = matters & (matters.sum(axis=0) == 1)
        self.private_ = {name: np.flatnonzero(own) for name, own in zip(self.view_names_, alone, strict=True)}
        self.classes_ = {name: table.classes for name, table in self._tables.items() if table.is_labels}
        self.bound_, self.n_iter_ = self.fit_report_.bound, len(self.fit_report_.trace)

    # ---- new rows

    def _read(self, views: Any) -> dict[Any, np.ndarray]:
        """The given views of new rows as floats, in the order of the model's views."""
        check_is_fitted(self)
        check_given(views, self.view_names_)
        read = {name: self._tables[name].read(views[name]) for name in self.view_names_ if name in views}
        check_aligned(read)
        return read

    def _standard(self, values: Mapping[Any, np.ndarray]) -> dict[int, np.ndarray]:
        """Views in standard units, by the numbers of the views."""
        return {self.view_names_.index(name): self._tables[name].units.standard(v) for name, v in values.items()}

    def transform(self, views: Mapping[Any, Any], return_std: bool = False) -> Any:
        """Mean, and on request standard deviation, of q(x) of new rows, from one view or several.

        Each row is embedded on its own, and the model does not change.
        """
        given = self._standard(self._read(views))
        with watched("transform", self.verbose), computing():
            mean, variance = self._model.infer(given).moments()
        return (mean, np.sqrt(variance)) if return_std else mean

    def fit_transform(self, views: Mapping[Any, Any], y: Any = None) -> np.ndarray:
        """The means of q(x) of the training rows."""
        return self.fit(views).embedding_

    def predict(self, views: Mapping[Any, Any], view: Any, return_std: bool = False) -> Any:
        """Another view of new rows, from one view or several, and on request standard deviations.

        Frames come back as frames, with rows numbered from 0, and single columns as arrays. Labels and categories are
        the most probable ones. They have no standard deviation: see `predict_proba`. The first prediction from the same
        views to the same view takes longer, because regressions are fitted to the training rows.
        """
        table, mixture = self._predict(views, view)
        if return_std and table.is_labels:
            raise ValueError(f"View {view!r} holds labels, which have no standard deviation. Use predict_proba.")
        codes, std = table.codes(mixture)
        return (table.table(codes), table.spreads(std)) if return_std else table.table(codes)

    def predict_proba(self, views: Mapping[Any, Any], view: Any) -> Any:
        """Probabilities (n, k) of the labels of a view, in the order of `classes_[view]`.

        For a frame with columns of categories, a dictionary with the probabilities of each.
        """
        table, mixture = self._predict(views, view)
        found = table.probabilities(mixture)
        if not found:
            raise ValueError(f"View {view!r} has no labels or categories. Use predict.")
        return next(iter(found.values())) if table.is_labels else found

    def _predict(self, views: Any, view: Any) -> tuple[ViewTable, Mixture]:
        given = self._standard(self._read(views))
        check_name(view, self.view_names_)
        if view in views:
            raise ValueError(f"View {view!r} is given. Leave it out to predict it, or use impute to fill its holes.")
        with watched("predict", self.verbose), computing():
            return self._tables[view], self._model.predict(given, self.view_names_.index(view))

    def impute(self, views: Mapping[Any, Any] | None = None, return_std: bool = False) -> Any:
        """Views with their holes filled in, by default those of the training rows, and on request standard deviations.

        Every hole is filled in from q(x) given all known entries of the row in all given views. The standard deviation
        of a known entry is 0, and that of a category is NaN.
        """
        check_is_fitted(self)
        values = self._values if views is None else self._read(views)
        found = {}
        with watched("impute", self.verbose), computing():
            if views is None:
                beliefs = RowBeliefs.single(self.embedding_, self.embedding_std_**2)
            else:
                beliefs = self._model.infer(self._standard(values))
            for name, own in values.items():
                mixture = self._model.outputs(beliefs, self.view_names_.index(name))
                found[name] = self._tables[name].filled(own, mixture, None if views is None else views[name])
        filled, std = ({name: pair[k] for name, pair in found.items()} for k in (0, 1))
        return (filled, std) if return_std else filled

    def sample(self, n_samples: int = 1, random_state: Any = None) -> dict[Any, Any]:
        """Draw new rows, the same in all views.

        For each, a latent input is drawn from q(x) of a random training row. A function is drawn from the posterior of
        every view, and noise is added to its value there.
        """
        check_is_fitted(self)
        checks.check_count("n_samples", n_samples)
        random = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        rows = random.integers(len(self.embedding_), size=n_samples)
        inputs = self.embedding_[rows] + self.embedding_std_[rows] * random.normal(size=(n_samples, self.n_components))
        found = {}
        with computing():
            for number, (name, table) in enumerate(self._tables.items()):
                key = jax.random.key(int(random.integers(2**31)))
                values = self._model.draw(number, key, inputs)
                noise = self._model.noise_variance(number)
                values = values + np.sqrt(noise) * random.normal(size=values.shape)
                certain = Mixture(values[None], np.broadcast_to(noise, values.shape)[None], np.ones((1, n_samples)))
                found[name] = table.table(table.codes(certain)[0])
        return found
