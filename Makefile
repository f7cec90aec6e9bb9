# Two commands are the whole set-up: `make demo` and `make test`. Both may be repeated; the second time is quick.
PYTHON ?= python3
BIN := .venv/bin
PYTEST_ARGS ?=
# Tests often wait for servers, so that three more of them run than there are cores.
WORKERS ?= $(shell $(PYTHON) -c "import os; print((os.cpu_count() or 1) + 3)")

# The question is data: taken as it is written, it is expanded neither here nor by the shell.
override ASK := $(value ASK)
export ASK

# An empty value lets the first process keep what it has compiled, so that hundreds of others need not compile it anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test coverage soak mutants check lint format lock clean bench
.DELETE_ON_ERROR:

demo: .venv/.run
	@$(BIN)/footnote ingest docs --source footnote --quiet
	@if [ -n "$$ASK" ]; then $(BIN)/footnote ask -- "$$ASK"; else $(BIN)/footnote chat; fi

test: .venv/.dev
	$(BIN)/pytest -n $(WORKERS) --dist loadscope --no-loadscope-reorder $(PYTEST_ARGS)

# The same, and which lines nothing runs; to count them takes a quarter more time.
coverage:
	@$(MAKE) test PYTEST_ARGS="--cov --cov-report=term:skip-covered $(PYTEST_ARGS)"

# Every page of the large corpora and every made-up example, where `test` takes a share of them; then faults in pieces of
# 200, of which those that were played before are not played again.
SEED ?= 1
FAULTS ?= 2000
soak: .venv/.dev
	FOOTNOTE_WHOLE=1 $(BIN)/pytest -n auto $$(grep -rlE "from tests.portion import|town: Town|\"cluster\"|ingested_docs" tests --include="test_*.py") $(PYTEST_ARGS)
	$(BIN)/python -m tests.faults --seed $(SEED) --faults $(FAULTS)

# Small changes of the code, one by one, against the tests that have to notice them: a sample of Python, and all of Lua.
SAMPLE ?= 400
mutants: .venv/.dev
	$(BIN)/python -m bench.mutants --seed $(SEED) --sample $(SAMPLE) $(MUTANTS_ARGS)
MUTANTS_ARGS ?=

check: lint test

# One thread: a second one reads all libraries again, which takes twice the processor for nearly the same time. More room
# for young objects spares it much collecting of garbage.
lint: .venv/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/codespell
	NODE_OPTIONS=--max-semi-space-size=128 $(BIN)/basedpyright

format: .venv/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Pinned versions with hashes, and no download address: uv.lock would hold one for every file.
lock: .venv/.dev
	$(BIN)/uv pip compile $(UV_FLAGS) --group build pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile $(UV_FLAGS) --no-deps --group multilingual -o requirements-multilingual.lock
	$(BIN)/uv pip compile $(UV_FLAGS) --group build --group dev -c requirements.lock pyproject.toml -o requirements-dev.lock
UV_FLAGS := -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Footnote needs Python 3.11 or newer. Name one, such as: make PYTHON=python3.12 demo"; exit 1; }
	@$(PYTHON) -m venv .venv

.venv/.run: requirements.lock pyproject.toml | .venv/bin/python
	@echo "Setting up the environment (a minute, the first time) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $@

# The second lock holds all of the first, so that a machine for development needs one installation. One of the tools
# installs much faster than pip, which does it where that one does not reach the index that pip is set up for.
.venv/.dev: requirements-dev.lock pyproject.toml | .venv/bin/python
	@echo "Setting up the environment and the tools for development (a minute or two, the first time) ..."
	@sed -n '/^uv==/,/[^\\]$$/p' $< > .venv/uv.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --require-hashes -r .venv/uv.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --require-hashes -r $< || \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --require-hashes -r $<
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch .venv/.run $@

clean:
	rm -rf .venv .footnote

# Figures for docs/measurements.md; the first run makes indexes and an environment with frameworks, which takes minutes.
bench: .venv/.dev
	@for name in beside startup retrieval finding calibration ingestion embedding cohere agent inbox scale drawing; do $(BIN)/python -m bench.$$name; done
