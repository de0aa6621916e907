# Everything sets itself up: `make demo` and `make test` need only python3 (3.11+), pip and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
DEMO_STAMP := $(VENV)/.demo
WORKERS ?= auto
LOCKED  ?=

.PHONY: install demo test test-all fuzz test-oldest test-newest check format bench bench-all docs lock dist sbom clean

install: $(STAMP)

# Some distributions ship python3 without ensurepip: then virtualenv, fetched by pip, makes the environment.
define environment
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "elbowroom needs Python 3.11 or newer; set PYTHON=...")'
	@test -x $(1)/bin/python || $(PYTHON) -m venv $(1) 2>/dev/null || { rm -rf $(1); \
	  $(PYTHON) -m pip install --quiet --target .venv-bootstrap virtualenv && \
	  PYTHONPATH=.venv-bootstrap $(PYTHON) -m virtualenv --quiet $(1); }
endef
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check

# The versions of requirements/lock.txt, checked by hash; where these cannot be had, the newest allowed, and a line says so.
$(STAMP): pyproject.toml requirements/lock.txt tools/install.py
	$(call environment,$(VENV))
	$(BIN)/python tools/install.py $(LOCKED)
	@echo "compiling the kernels once (cached on disk) ..."
	@$(BIN)/python -m elbowroom.warm
	@touch $(STAMP)

# What the demonstration needs, and no tools for tests; its kernels are compiled when it asks for them.
$(DEMO_STAMP): pyproject.toml requirements/demo.txt tools/install.py
	$(call environment,$(VENV))
	@test -e $(STAMP) || $(BIN)/python tools/install.py --demo $(LOCKED)
	@touch $(DEMO_STAMP)

demo: $(DEMO_STAMP)
	@$(BIN)/elbowroom demo

test: $(STAMP)
	$(BIN)/python -m pytest -n $(WORKERS)

test-all: $(STAMP)
	$(BIN)/python -m pytest -n $(WORKERS) -m "long or not long"

# FUZZ="--kind tables --seed 7 --only 12" repeats one try.
fuzz: $(STAMP)
	$(BIN)/python -m tests.fuzz $(FUZZ)

# The oldest allowed version of every run-time dependency, and the newest of everything: in environments of their own.
test-oldest:
	$(call environment,.venv-oldest)
	.venv-oldest/bin/python $(PIP_INSTALL) --constraint requirements/oldest.txt --editable ".[test]"
	NUMBA_CACHE_DIR=$(CURDIR)/.venv-oldest/numba .venv-oldest/bin/python -m pytest -n $(WORKERS)

test-newest:
	$(call environment,.venv-newest)
	.venv-newest/bin/python $(PIP_INSTALL) --upgrade --upgrade-strategy eager --editable ".[test]"
	NUMBA_CACHE_DIR=$(CURDIR)/.venv-newest/numba .venv-newest/bin/python -m pytest -n $(WORKERS)

check: $(STAMP)
	$(BIN)/ruff format --check src tests benchmarks examples tools
	$(BIN)/ruff check src tests benchmarks examples tools
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n $(WORKERS)

format: $(STAMP)
	$(BIN)/ruff format src tests benchmarks examples tools
	$(BIN)/ruff check --fix src tests benchmarks examples tools

bench: $(STAMP)
	$(BIN)/python -m benchmarks paper --quick

bench-all: $(STAMP)
	$(BIN)/python -m benchmarks paper
	$(BIN)/python -m benchmarks report

docs:
	$(call environment,.venv-tools)
	.venv-tools/bin/python $(PIP_INSTALL) "mkdocs>=1.6" "mkdocs-material>=9.5" "mkdocstrings[python]>=0.26" "ruff>=0.6"
	NO_MKDOCS_2_WARNING=1 .venv-tools/bin/mkdocs build --strict

# What requirements/lock.txt says: the newest versions of everything that tests need, for all platforms and Pythons.
lock:
	$(call environment,.venv-tools)
	.venv-tools/bin/python $(PIP_INSTALL) uv
	.venv-tools/bin/uv pip compile pyproject.toml requirements/build.in --extra test --extra models --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --custom-compile-command "make lock" --quiet --upgrade --output-file requirements/lock.txt
	.venv-tools/bin/uv pip compile pyproject.toml requirements/build.in --extra demo --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --custom-compile-command "make lock" --quiet --constraint requirements/lock.txt \
	  --output-file requirements/demo.txt

# The wheel, the source archive, and the bill of materials of the wheel.
dist: $(STAMP)
	$(call environment,.venv-tools)
	.venv-tools/bin/python $(PIP_INSTALL) build
	rm -rf dist
	.venv-tools/bin/python -m build --outdir dist
	$(BIN)/python -m tools.sbom dist/*.whl

sbom: dist

clean:
	rm -rf $(VENV) .venv-bootstrap .venv-oldest .venv-newest .venv-tools build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks tools -name __pycache__ -type d -prune -exec rm -rf {} +
