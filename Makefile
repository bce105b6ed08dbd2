# Everything runs in .venv, which `make` creates. Only Python 3.11+ and make are needed beforehand.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

# Python environments of other libraries, each with what it wants; `make TORCH=…` for another build of torch.
PEERS := .venv-gpytorch/.installed .venv-gpflow/.installed .venv-series/.installed .venv-tables/.installed
TORCH ?= torch

# The locks name exact versions and the hashes of their files, the build backend among them: pip takes no other file.
# An editable install has no hash, so it comes after, without dependencies and with the locked backend.
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check
LOCKED := $(PIP_INSTALL) --require-hashes --requirement
EDITABLE := $(PIP_INSTALL) --no-deps --no-build-isolation --editable .

.PHONY: demo test test-core test-estimators test-commands test-documentation test-rest test-optimised test-sktime
.PHONY: nightly-regression nightly-others nightly-tables nightly-models nightly-kills
.PHONY: test-oldest test-slow nightly ci lint format bench peers table-peers series-peers docs picture lock audit mutation release clean

demo: $(INSTALLED)  ## Four small problems with holes, solved; a report to look at
	$(BIN)/semigp demo

# In several processes: one that had compiled all the programs of all tests was aborted inside XLA. Two run side by side,
# the longest first. tests/conftest.py has programs compiled quickly and kept in build/compiled, for all parts.
PARTS := test-estimators test-optimised test-core test-rest test-documentation test-commands
OPTIMISED := tests/test_experiments.py tests/test_faults.py
REST := $(addprefix --ignore=tests/,core estimators adapters cli reports test_documentation.py) \
	$(addprefix --ignore=,$(OPTIMISED))
PYTEST := $(BIN)/python -m pytest -m "not slow"

# Threads of two processes' BLAS only wait for each other. The rest has tests of what becomes of those threads.
test-core test-estimators test-commands: export OPENBLAS_NUM_THREADS = 1

test: $(INSTALLED)  ## All tests but the slow ones
	$(MAKE) -j2 $(PARTS)

test-core: $(INSTALLED)
	$(PYTEST) tests/core

test-estimators: $(INSTALLED)
	$(PYTEST) tests/estimators

test-commands: $(INSTALLED)
	$(PYTEST) tests/cli tests/reports

test-documentation: $(INSTALLED)
	$(PYTEST) tests/test_documentation.py

test-rest: $(INSTALLED)
	$(PYTEST) $(REST)

# What tests have compiled otherwise is not quite what users run; an empty variable has XLA optimise as for them. Here
# are what computes for longer than it compiles, what compares roundings, and once more the comparisons with GPy.
test-optimised: export XLA_FLAGS =
test-optimised: $(INSTALLED)  ## Some tests optimised as for users
	$(PYTEST) $(OPTIMISED) tests/core/sparse/test_gpy_reference.py

ci: $(INSTALLED)  ## Lint, then tests and documentation side by side
	$(MAKE) lint
	$(MAKE) -j2 $(PARTS) docs test-sktime

test-sktime: .venv-sktime/.installed  ## The adapters for sktime, which wants an older pandas than the others, and for Nixtla's libraries
	.venv-sktime/bin/python -m pytest tests/adapters

# Some tests for each dependency, but the two slowest. Old versions warn of what has changed since: no error here.
OLDEST := datasets plotting series estimators/common/test_saving.py cli/test_commands.py \
	core/sparse/test_fit.py baselines/test_series.py estimators/regression/test_regressor.py
test-oldest: .venv-oldest/.installed  ## With the oldest versions that pyproject.toml allows; three to six minutes
	.venv-oldest/bin/python -m pytest -W default -m "not slow" -k "not predicted_moments" --durations=10 \
		$(addprefix tests/,$(OLDEST))

# Two side by side, the longest first. Two BLAS with two threads each would only wait for each other.
NIGHTLY := nightly-regression nightly-others nightly-tables nightly-models nightly-kills
nightly $(NIGHTLY) test-slow: export XLA_FLAGS =
nightly $(NIGHTLY): export OPENBLAS_NUM_THREADS = 1
nightly: $(INSTALLED)  ## Properties on 500 tables each, 100,000 tampered models, 130,000 strange tables, 220 kills; an hour
	$(MAKE) --keep-going -j2 $(NIGHTLY)

nightly-regression nightly-others: export HYPOTHESIS_PROFILE = nightly
nightly-regression: $(INSTALLED)
	$(BIN)/python -m pytest --durations=20 tests/properties/test_regression.py

nightly-others: $(INSTALLED)
	$(BIN)/python -m pytest --durations=20 --ignore=tests/properties/test_regression.py tests/properties

nightly-tables: $(INSTALLED)
	$(BIN)/python -m pytest --durations=5 tests/cli/test_problems.py tests/cli/test_parquet_sizes.py -k "strange or bomb"

nightly-models: $(INSTALLED)
	$(BIN)/python -m pytest --durations=5 tests/estimators/common/test_saving.py -k tampered

nightly-kills: $(INSTALLED)
	$(BIN)/python -m pytest --durations=5 tests/estimators/regression/test_checkpoint.py -k killed

# On a machine with many cores: `make mutation MUTANTS=500 WORKERS=16 SECONDS=3600`. Some folders: `FOLDERS="views layers"`.
MUTANTS ?= 100
FOLDERS ?=
WORKERS ?= 2
SECONDS ?= 3600
mutation: $(INSTALLED) .venv-tools/.installed  ## Changes of the engine that tests should notice; a line for each
	mkdir -p build/mutation
	.venv-tools/bin/python -m tests.mutation.draw $(MUTANTS) 0 build/mutation/mutants.json $(FOLDERS)
	$(BIN)/python -m tests.mutation.run build/mutation/mutants.json build/mutation/fates.jsonl $(WORKERS) $(SECONDS) $(FOLDERS)

test-slow: $(INSTALLED) test-sktime  ## All tests
	$(BIN)/python -m pytest tests/estimators
	$(BIN)/python -m pytest tests/cli tests/reports tests/test_documentation.py
	$(BIN)/python -m pytest $(REST)
	$(BIN)/python -m pytest $(OPTIMISED)
	$(BIN)/python -m pytest tests/core

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.peers  ## Everything timed beside GPy, GPyTorch, GPflow and what the machine allows; from 1,000 to 1,000,000 rows
	-$(MAKE) --keep-going peers
	$(BIN)/semigp bench all

peers: $(PEERS)  ## GPyTorch and GPflow, 8 GB in all, those of series-peers, and those of table-peers; what does not install is left out

# With all ways: `.venv-tables/bin/python -m semigp.experiments.tables --out results/experiments`.
table-peers: .venv-tables/.installed  ## LightGBM, CatBoost, miceforest and HyperImpute, for `semigp reproduce tables`
	-$(MAKE) .venv-hyperimpute/.installed

series-peers: .venv-series/.installed  ## statsforecast, LightGBM and Prophet, for `semigp reproduce series`

picture: $(INSTALLED)  ## The picture of the README
	$(BIN)/python docs/picture.py

docs: $(INSTALLED)  ## The documentation, as HTML, in build/docs; a warning is an error, in a second run (-E) as in the first
	$(BIN)/sphinx-build -E -W --keep-going -b html docs build/docs

# All of `.[dev,docs]`, and `.[sktime]` with what its tests need, for every Python from 3.11 on and every system.
BACKEND := editables hatchling
ADAPTED := hypothesis matplotlib polars pytest utilsforecast
LOCK := .venv-tools/bin/uv pip compile pyproject.toml - --universal --python-version 3.11 --quiet --upgrade \
	--generate-hashes --custom-compile-command "make lock"
lock: .venv-tools/.installed  ## The newest versions into the locks of CI, with hashes
	printf '%s\n' $(BACKEND) | $(LOCK) --extra dev --extra docs --output-file requirements/ci.txt
	printf '%s\n' $(BACKEND) $(ADAPTED) | $(LOCK) --extra sktime --output-file requirements/sktime.txt

# Strict, for else a package that cannot be looked up counts as one without vulnerabilities.
AUDIT := .venv-tools/bin/pip-audit --strict --disable-pip --requirement
audit: .venv-tools/.installed  ## Known vulnerabilities of what the locks name; asks PyPI, and fails where it does not answer
	$(AUDIT) requirements/ci.txt
	$(AUDIT) requirements/sktime.txt

# For another interpreter: `make release PYTHON=python3.14`.
release: $(INSTALLED)  ## Wheel and source distribution in dist/, each tried in an empty environment; four minutes
	$(BIN)/python -m tests.release.check --python $(PYTHON)

.venv-sktime/.installed: pyproject.toml requirements/sktime.txt
	test -d .venv-sktime || $(PYTHON) -m venv .venv-sktime
	.venv-sktime/bin/python $(LOCKED) requirements/sktime.txt
	.venv-sktime/bin/python $(EDITABLE)
	touch $@

.venv-gpytorch/.installed:
	test -d .venv-gpytorch || $(PYTHON) -m venv .venv-gpytorch
	.venv-gpytorch/bin/python $(PIP_INSTALL) $(TORCH) gpytorch
	touch $@

.venv-gpflow/.installed:
	test -d .venv-gpflow || $(PYTHON) -m venv .venv-gpflow
	.venv-gpflow/bin/python $(PIP_INSTALL) gpflow tensorflow-cpu
	touch $@

.venv-series/.installed:
	test -d .venv-series || $(PYTHON) -m venv .venv-series
	.venv-series/bin/python $(PIP_INSTALL) statsforecast lightgbm prophet
	touch $@

# All that the package needs, beside what it is compared with. miceforest calls what LightGBM 4.6 has renamed.
.venv-tables/.installed: pyproject.toml
	test -d .venv-tables || $(PYTHON) -m venv .venv-tables
	.venv-tables/bin/python $(PIP_INSTALL) --editable ".[plot]" pandas "lightgbm<4.6" catboost miceforest
	touch $@

# HyperImpute is wrong with later versions than those of its time (and fails with some); these need Python 3.11.
HYPERIMPUTE := hyperimpute==0.1.17 "numpy<2" "pandas<2.1" "scikit-learn<1.3" "scipy<1.12" "xgboost<2" "lightgbm<4" \
	"optuna<3.5" "torch<2.3" "setuptools<70"
.venv-hyperimpute/.installed:
	test -d .venv-hyperimpute || $(PYTHON) -m venv .venv-hyperimpute
	.venv-hyperimpute/bin/python $(PIP_INSTALL) $(HYPERIMPUTE)
	touch $@

# pandas 2.2 fails on time zones of dateutil 3 and later.
.venv-oldest/.installed: pyproject.toml requirements/oldest.txt
	test -d .venv-oldest || $(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python $(PIP_INSTALL) --constraint requirements/oldest.txt --editable ".[cli,data,forecast,plot]" \
		hypothesis pandas pytest "python-dateutil<3"
	touch $@

.venv-tools/.installed:
	test -d .venv-tools || $(PYTHON) -m venv .venv-tools
	.venv-tools/bin/python $(PIP_INSTALL) cosmic-ray pip-audit uv
	touch $@

$(INSTALLED): pyproject.toml requirements/ci.txt
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/python $(LOCKED) requirements/ci.txt
	$(BIN)/python $(EDITABLE)
	touch $@

$(VENV)/.peers: $(INSTALLED)
	$(BIN)/python $(PIP_INSTALL) --editable ".[dev,peers]"
	touch $@

clean:
	rm -rf $(VENV) .venv-tools .venv-oldest .venv-sktime .venv-gpytorch .venv-gpflow .venv-series .venv-tables .venv-hyperimpute build dist docs/auto_gallery docs/api/generated .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .hypothesis
