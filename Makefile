# Everything runs in .venv, which `make` creates. Only Python 3.11+ and make are needed beforehand.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: demo test test-slow lint format bench clean

demo: $(INSTALLED)  ## Fit a small data set with holes and show what was recovered
	$(BIN)/python -m semigp.demo

test: $(INSTALLED)  ## All tests but the slow ones
	$(BIN)/python -m pytest -m "not slow"

test-slow: $(INSTALLED)  ## All tests
	$(BIN)/python -m pytest

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.peers  ## One bound and gradient beside GPy, one core each
	$(BIN)/python -m benchmarks.engine

$(INSTALLED): pyproject.toml
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@

$(VENV)/.peers: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev,peers]"
	touch $@

clean:
	rm -rf $(VENV) build .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .hypothesis
