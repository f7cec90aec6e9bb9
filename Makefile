# Two commands are the whole set-up: `make demo` and `make test`. Both may be repeated; the second time is quick.
PYTHON ?= python3
BIN := .venv/bin
ASK ?=
PYTEST_ARGS ?=

.PHONY: demo test check lint format lock soak clean

demo: .venv/.run
	@FOOTNOTE_DATA_DIR=$${FOOTNOTE_DATA_DIR:-.footnote} $(BIN)/footnote ingest docs --source footnote --quiet
ifeq ($(strip $(ASK)),)
	@$(BIN)/footnote chat
else
	@ASK="$$ASK" sh -c '$(BIN)/footnote ask "$$ASK"'
endif

test: .venv/.dev
	$(BIN)/pytest $(PYTEST_ARGS)

check: lint test

lint: .venv/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports
	$(BIN)/codespell

format: .venv/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Pinned versions with hashes, and no download address: uv.lock would hold one for every file.
lock: .venv/.dev
	$(BIN)/uv pip compile $(UV_FLAGS) --group build pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile $(UV_FLAGS) --group build --group dev -c requirements.lock pyproject.toml -o requirements-dev.lock
UV_FLAGS := -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.run: requirements.lock pyproject.toml | .venv/bin/python
	@echo "Setting up the environment (a minute, the first time) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $@

.venv/.dev: requirements-dev.lock .venv/.run
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@touch $@

clean:
	rm -rf .venv .footnote
