"""What a command does by default is what the estimator does. The oracle is the signature of the estimator."""

import inspect

import pytest
from typer.main import get_command

import semigp
from semigp.cli.app import app
from semigp.cli.forecast import _levels, _season, _trend, _window
from semigp.series import Forecast

OPTIONS = [
    ("regress", "inducing", semigp.SemiDescribedGPRegressor, "n_inducing", int),
    ("regress", "inducing", semigp.StreamingGPRegressor, "n_inducing", int),
    ("impute", "draws", semigp.GPImputer, "n_draws", int),
    ("forecast", "window", semigp.GPForecaster, "window", _window),
    ("forecast", "season", semigp.GPForecaster, "season", _season),
    ("forecast", "trend", semigp.GPForecaster, "trend", _trend),
    ("forecast", "covariate_lags", semigp.GPForecaster, "covariate_lags", int),
    ("forecast", "paths", semigp.GPForecaster.forecast, "n_paths", int),
    ("forecast", "levels", Forecast.to_frame, "levels", lambda told: tuple(_levels(",".join(told))[0])),
    ("classify", "components", semigp.SemiSupervisedGPClassifier, "n_components", lambda told: told),
    ("compare", "splits", semigp.compare, "n_splits", int),
    ("compare", "minutes", semigp.compare, "minutes", float),
    ("compare", "steps", semigp.compare, "steps", lambda told: told),
]


@pytest.mark.parametrize(("command", "option", "function", "parameter", "read"), OPTIONS)
def test_default(command, option, function, parameter, read):
    told = next(each for each in get_command(app).commands[command].params if each.name == option).default
    assert read(told) == inspect.signature(function).parameters[parameter].default


def test_every_option_with_a_default_is_compared_or_concerns_files_only():
    files_only = {"encoding", "seed", "output", "steps", "predict", "data", "train", "series", "file"}
    compared = {(command, option) for command, option, *_ in OPTIONS}
    for command in ("regress", "impute", "forecast", "classify", "compare"):
        for each in get_command(app).commands[command].params:
            is_number = isinstance(each.default, int | float) and not isinstance(each.default, bool)
            if is_number and each.name not in files_only:
                assert (command, each.name) in compared, (command, each.name)
