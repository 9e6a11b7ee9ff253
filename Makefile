# Needs Python (>= 3.11) and make. Everything else goes into .venv.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: install demo test test-all lint bench calibrate lock clean

install: .venv/.installed

# uv installs the locked set about three times faster than pip does; pip is only used to fetch uv.
.venv/.installed: requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode --require-hashes -r requirements.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	$(BIN)/python -m compileall -q verifier
	touch $@

demo: install
	$(BIN)/verifier run cases/frank_wolfe cases/heavy_ball cases/powell cases/batch_timing cases/three_projections cases/self_distillation cases/paging --ledger demo/verifier.db

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint
	$(BIN)/pytest -q -n 2 -m "not slow"

test-all: test
	$(BIN)/pytest -q -n 2 -m slow
	$(BIN)/python benchmarks/calibration.py --check
	$(BIN)/python -m benchmarks.calibrate --check

bench: install
	$(BIN)/python benchmarks/phases.py
	$(BIN)/python benchmarks/sweep_overhead.py
	$(BIN)/python benchmarks/exact.py
	$(BIN)/python -m benchmarks.ledger
	$(BIN)/python -m benchmarks.judge --full
	f=$$(mktemp -d) && chmod 755 $$f && url=$$(scripts/postgres.sh start $$f) && \
	    { $(BIN)/python benchmarks/ledger_store.py --postgres $$url; code=$$?; \
	      scripts/postgres.sh stop $$f immediate; rm -rf $$f; exit $$code; }
	$(BIN)/python -m benchmarks.statistics_speed
	$(BIN)/python -m benchmarks.stats_test_speed
	$(BIN)/python -m benchmarks.audits

# writes docs/calibration.md anew: some minutes
calibrate: install
	$(BIN)/python -m benchmarks.calibrate

lock: install
	$(BIN)/uv pip compile pyproject.toml --all-extras --group dev --generate-hashes --no-header \
	    --universal --python-version 3.11 --quiet -o requirements.lock

clean:
	rm -rf .venv demo .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
