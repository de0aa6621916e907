# Everything sets itself up: `make demo` and `make test` need only python3 (3.11+), pip and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
WORKERS ?= auto

.PHONY: install demo test test-all check format bench bench-all docs clean

install: $(STAMP)

# Some distributions ship python3 without ensurepip: then virtualenv, fetched by pip, makes the environment.
$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "elbowroom needs Python 3.11 or newer; set PYTHON=...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) 2>/dev/null || { rm -rf $(VENV); \
	  $(PYTHON) -m pip install --quiet --target .venv-bootstrap virtualenv && \
	  PYTHONPATH=.venv-bootstrap $(PYTHON) -m virtualenv --quiet $(VENV); }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test]"
	@echo "compiling the kernels once (cached on disk) ..."
	@$(BIN)/python -m elbowroom.warm
	@touch $(STAMP)

demo: $(STAMP)
	@$(BIN)/elbowroom demo

test: $(STAMP)
	$(BIN)/python -m pytest -n $(WORKERS)

test-all: $(STAMP)
	$(BIN)/python -m pytest -n $(WORKERS) -m "long or not long"

check: $(STAMP)
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n $(WORKERS)

format: $(STAMP)
	$(BIN)/ruff format src tests benchmarks examples
	$(BIN)/ruff check --fix src tests benchmarks examples

bench: $(STAMP)
	$(BIN)/python -m benchmarks paper --quick

bench-all: $(STAMP)
	$(BIN)/python -m benchmarks paper
	$(BIN)/python -m benchmarks report

docs: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	$(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) .venv-bootstrap build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
