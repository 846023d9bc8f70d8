# One environment in .venv, installed from requirements.lock; every target sets it up where it is missing.

PYTHON ?= python3
BIN := .venv/bin
JOBS ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 1)
QUICK_SPLITS ?= 10
FAULTS ?= 40
FUZZ ?= 100000

.DEFAULT_GOAL := help
.PHONY: help setup run test test-faults test-processors fuzz lint audit bench reproduce-quick reproduce-all lock clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'

setup: .venv/complete  ## create the environment in .venv

.venv/complete: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "fsvm needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Name another: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@echo "Setting up .venv (a minute or two, once) ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@touch $@

run: setup  ## run the first experiment: wine, 500 splits (needs no network)
	@$(BIN)/fsvm run configs/wine.yaml --jobs $(JOBS)

test: setup lint  ## ruff, mypy, import-linter, then every test
	@$(BIN)/python -m pytest -n $(JOBS)

test-faults: setup  ## kill runs at random times, FAULTS in each way of running, and compare what they end with
	@FSVM_FAULTS=$(FAULTS) $(BIN)/python -m pytest tests/faults -s

test-processors: setup  ## every solver test and some quick experiments under each instruction set that this machine can play
	@PYTHONPATH=tests $(BIN)/python tests/processors/matrix.py

fuzz: setup  ## FUZZ mutated inputs for all readers, methods and extractors; faults are kept in build/fuzz (SEED=n repeats)
	@$(BIN)/python -m tests.fuzz --number $(FUZZ) --jobs $(JOBS) $(if $(SEED),--seed $(SEED))

lint: setup  ## style, types, floors
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

audit: setup  ## known vulnerabilities of the locked dependencies, where the advisories can be reached
	@$(BIN)/python .ci/audit.py

bench: setup  ## speed against named peers, as ratios; steps and gaps; then what the runner itself costs
	@$(BIN)/python -m benchmarks
	@$(BIN)/python -m benchmarks.fits
	@$(BIN)/python -m benchmarks.overhead

reproduce-quick: setup  ## every experiment with few splits, into build/quick
	@$(BIN)/fsvm run configs/*.yaml --jobs $(JOBS) --splits $(QUICK_SPLITS) --out build/quick

reproduce-all: setup  ## every experiment in full, into results
	@$(BIN)/fsvm run configs/*.yaml --jobs $(JOBS)

lock: setup  ## resolve the dependencies anew (needs uv)
	@uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --all-extras --upgrade \
	  --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" pyproject.toml --output-file requirements.lock

clean:  ## remove the environment and all that can be made again
	rm -rf .venv build dist .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
