"""How the package behaves among others: imports, types, grids in processes, the wheel, the locks."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement
from sklearn.model_selection import GridSearchCV

import semigp
from semigp import (
    BayesianGPLVM,
    GPForecaster,
    GPImputer,
    SemiDescribedGPRegressor,
    SemiSupervisedGPClassifier,
    SharedGPLVM,
    StateSpaceGP,
)

ROOT = Path(__file__).parents[1]
USER_CODE = """
import numpy as np
from semigp import BayesianGPLVM, GPForecaster, GPImputer, SemiDescribedGPRegressor, SemiSupervisedGPClassifier, load

X = np.zeros((5, 2))
model: SemiDescribedGPRegressor = SemiDescribedGPRegressor(n_inducing=10, random_state=0).fit(X, X[:, 0])
mean = model.predict(X)
model.save("m.semigp")
again = load("m.semigp")
forecast = GPForecaster(window=3).fit(X[:, 0]).forecast(10)
low: np.ndarray = forecast.quantile(0.05)
filled = GPImputer(n_draws=3).fit(X).transform(X)
latent = BayesianGPLVM(2, back_constrained=True).fit(X).transform(X)
classes = SemiSupervisedGPClassifier(n_components=3).fit(X, [0, 1, -1, -1, -1]).predict(X)
"""


def _python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_import_is_quick_and_pulls_in_nothing_that_is_not_needed():
    """Under 1.5 s of processor time; matplotlib, polars, typer and statsmodels only when asked for."""
    assert float(_python("import time, semigp; print(time.process_time())")) < 1.5
    loaded = _python("import sys, semigp; semigp.GPForecaster; print(' '.join(sys.modules))").split()
    assert not {"matplotlib", "polars", "typer", "statsmodels", "pooch", "IPython"} & set(loaded)


def test_names_are_there():
    assert set(semigp.__all__) <= set(dir(semigp))
    with pytest.raises(AttributeError, match="has no attribute 'GPRegressor'"):
        semigp.GPRegressor  # noqa: B018


MISTAKES = {
    "model.predict(X, return_sd=True)": "Unexpected keyword argument",
    'GPForecaster(window=3).forecast("ten")': 'expected "int"',
}


def test_a_type_checker_accepts_user_code_and_finds_mistakes(tmp_path):
    (tmp_path / "user.py").write_text(USER_CODE + "\n".join(MISTAKES))
    options = ("--strict", "--ignore-missing-imports", "--follow-imports=silent", "--no-error-summary")
    command = [sys.executable, "-m", "mypy", *options, "user.py"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    errors = [line for line in found.splitlines() if ": error: " in line]
    first = len(USER_CODE.splitlines()) + 1
    assert [int(error.split(":")[1]) for error in errors] == [first, first + 1], found
    for error, message in zip(errors, MISTAKES.values(), strict=True):
        assert message in error


ALL = (
    BayesianGPLVM,
    GPForecaster,
    GPImputer,
    SemiDescribedGPRegressor,
    SemiSupervisedGPClassifier,
    SharedGPLVM,
    StateSpaceGP,
)


@pytest.mark.parametrize("kind", ALL)
def test_html(kind):
    html = kind(random_state=3)._repr_html_()
    assert kind.__name__ in html
    assert "random_state" in html


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_names_of_features():
    Y = np.random.default_rng(0).normal(size=(20, 3))
    lvm = BayesianGPLVM(2, n_inducing=5, max_iter=3, random_state=0).fit(Y)
    assert lvm.get_feature_names_out().tolist() == ["bayesiangplvm0", "bayesiangplvm1"]
    classifier = SemiSupervisedGPClassifier(2, n_inducing=5, max_iter=3, random_state=0).fit(Y, Y[:, 0] > 0)
    assert len(classifier.get_feature_names_out()) == 2
    assert GPImputer(1, random_state=0).fit(Y).get_feature_names_out().tolist() == ["x0", "x1", "x2"]


@pytest.mark.filterwarnings("ignore")  # of twenty iterations, in other processes too
def test_grid_search_in_processes_finds_what_one_process_finds():
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 2))
    y = np.sin(X[:, 0]) + 0.1 * random.normal(size=40)
    model, grid = SemiDescribedGPRegressor(max_iter=20, random_state=0), {"n_inducing": [5, 20]}
    searches = [GridSearchCV(model, grid, cv=2, n_jobs=jobs).fit(X, y) for jobs in (1, 2)]
    one, two = (search.cv_results_["mean_test_score"] for search in searches)
    np.testing.assert_allclose(one, two, rtol=1e-6)


def test_wheel(tmp_path):
    """Pure Python, all of the package and nothing else; only what the estimators need is required."""
    options = ("--quiet", "--disable-pip-version-check", "--no-deps", "--wheel-dir", tmp_path)
    command = [sys.executable, "-m", "pip", "wheel", *options, ROOT]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name == f"semigp-{semigp.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (archive.read(name).decode() for name in names if name.endswith("METADATA"))
    sources = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src" / "semigp").rglob("*") if path.is_file()}
    sources = {name for name in sources if "__pycache__" not in name}
    assert {name for name in names if ".dist-info/" not in name} == sources
    assert {"semigp/py.typed", "semigp/reports/page.css", "semigp/reports/page.js"} <= sources
    needed = [line for line in re.findall(r"Requires-Dist: (.*)", metadata) if "extra ==" not in line]
    names = {re.match(r"[\w-]+", line).group() for line in needed}
    assert names == {"jax", "jaxtyping", "narwhals", "numpy", "scikit-learn", "scipy", "threadpoolctl"}


def test_citation_and_changes_are_of_this_version():
    citation, changes = ((ROOT / name).read_text(encoding="utf-8") for name in ("CITATION.cff", "CHANGELOG.md"))
    assert re.findall(r"^version: (.+)$", citation, re.M) == [semigp.__version__]
    released = re.findall(r"^date-released: (.+)$", citation, re.M)
    newest = f"{semigp.__version__} ({released[0]})" if released else "Unreleased"
    assert re.findall(r"^## (.+)$", changes, re.M)[0] == newest


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def _wanted(*extras):
    """What pyproject.toml asks for."""
    lists = [PROJECT["project"]["optional-dependencies"][extra] for extra in extras]
    return [Requirement(line) for line in sum(lists, PROJECT["project"]["dependencies"])]


@pytest.mark.parametrize(("name", "extras"), [("ci", ["dev", "docs"]), ("sktime", ["sktime"])])
def test_lock_holds_what_the_project_asks_for(name, extras):
    lock = (ROOT / "requirements" / f"{name}.txt").read_text()
    assert "://" not in lock  # it names files by their hashes, not where they come from
    found = re.findall(r"^([\w.-]+)==(\S+)(?: ; .*)? \\\n    --hash=sha256:[0-9a-f]{64}", lock, re.MULTILINE)
    pins = {package: [version for other, version in found if other == package] for package, _ in found}
    backend = [Requirement(line) for line in PROJECT["build-system"]["requires"]]
    for wanted in [*_wanted(*extras), *backend]:
        assert wanted.name in pins, f"requirements/{name}.txt lacks {wanted}: make lock"
        for pin in pins[wanted.name]:  # one for each Python
            assert wanted.specifier.contains(pin), f"{wanted}, but {pin} is locked: make lock"


def test_oldest_versions_are_the_lower_bounds():
    """Of all that users may install, and of pandas, whose frames they may bring."""
    pandas = [wanted for wanted in _wanted("dev") if wanted.name == "pandas"]
    bounds = {str(wanted).replace(">=", "==") for wanted in _wanted("cli", "data", "forecast", "plot") + pandas}
    _, *pins = (ROOT / "requirements" / "oldest.txt").read_text().splitlines()
    assert pins == sorted(bounds)
