# One environment in .venv: requirements.lock is what running needs, requirements-dev.lock that and what developers need.
# Every target sets up what it needs where it is missing.

PYTHON ?= python3
BIN := .venv/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
JOBS ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 1)
QUICK_SPLITS ?= 2
QUICK_ROWS ?= 60
QUICK = --jobs $(JOBS) --splits $(QUICK_SPLITS) --format svg --out build/quick --quiet
# Their data have fewer than twice QUICK_ROWS rows.
SMALL := configs/plane.yaml $(wildcard configs/guyon-*.yaml configs/ambroise-*.yaml)
# The first train on all rows in many orders; tolerance-wdbc and tolerance-sonar take the same steps. The others have too
# few rows, or classes so rare or many that folds of so few rows lack one; the other comparisons take the same steps.
SLOW := $(patsubst %,configs/tolerance-%.yaml,colon leukaemia dna) \
  $(wildcard $(foreach each,colon leukaemia led24 satimage reuters-3,configs/beyond-*-$(each).yaml))
FAULTS ?= 40
FUZZ ?= 100000
QUICK_TESTS := tests/evaluation tests/extraction tests/report/test_verdicts.py tests/report/test_numbers.py tests/store \
  tests/svm/kernels tests/svm/solvers/test_dual.py tests/svm/test_estimator.py tests/data/test_user_file.py \
  tests/data/test_fetch.py tests/data/test_synthetic.py tests/spec/test_extends.py tests/test_config_io.py tests/test_architecture.py

.DEFAULT_GOAL := help
.PHONY: help setup setup-dev run test pytest compiled dist bundle smoke smoke-lowest test-quick test-faults test-processors fuzz lint docs audit provenance bench reproduce-quick reproduce-all lock clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'

setup: .venv/complete  ## create the environment in .venv, for running

setup-dev: .venv/complete-dev  ## the same, with what tests, style and types need

# Either leaves word of what it has made; .ci/environment.py does the same where there is no make.
.venv/complete: requirements.lock pyproject.toml
	@$(PYTHON) .ci/environment.py

.venv/complete-dev: requirements-dev.lock pyproject.toml
	@$(PYTHON) .ci/environment.py --dev

run: setup  ## run the first experiment: wine, 500 splits (needs no network)
	@$(BIN)/fsvm run configs/wine.yaml --jobs $(JOBS)

test: setup-dev  ## ruff, mypy, import-linter, then every test
	@$(MAKE) --no-print-directory compiled
	@$(MAKE) --no-print-directory --jobs 2 lint pytest

pytest: setup-dev  # each process would compile what it runs, without 'compiled' before
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(JOBS) --dist worksteal  # each process would compile all sources

test-quick: setup-dev  ## a first try, within a minute and a half: tests that take a moment each
	@$(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(QUICK_TESTS)

test-faults: setup-dev  ## kill runs at random times, FAULTS in each way of running, and compare what they end with
	@FSVM_FAULTS=$(FAULTS) $(BIN)/python -m pytest tests/faults -s

test-processors: setup-dev  ## every solver test and some quick experiments under each instruction set that this machine can play
	@$(BIN)/python -m tests.processors.matrix

fuzz: setup-dev  ## FUZZ mutated inputs for all readers, methods, extractors, configs and cards; faults are kept in build/fuzz (SEED=n repeats)
	@$(BIN)/python -m tests.fuzz --number $(FUZZ) --jobs $(JOBS) $(if $(SEED),--seed $(SEED))

compiled: setup-dev  # else each process of the tests compiles what it runs
	@$(BIN)/python -m tests.helpers.compile_first

lint: setup-dev  ## style, types, layers, wording
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/python .ci/prose.py

docs: setup-dev  ## the documentation as a site that opens offline, build/docs/index.html
	@$(BIN)/python -m sphinx --quiet --fail-on-warning --builder html docs build/docs
	@echo build/docs/index.html

audit: setup-dev  ## known vulnerabilities of the locked dependencies, where the advisories can be reached
	@$(BIN)/python .ci/audit.py $(AUDIT)

dist: setup-dev  ## the wheel, the source distribution, and the wheel's bill of materials, in dist
	@rm -rf dist
	@$(BIN)/python -m hatchling build --directory dist
	@$(BIN)/python .ci/sbom.py dist/*.whl

bundle: dist  ## all for an installation without network, in build/bundle: source, wheels, results, hashes
	@$(BIN)/python .ci/bundle.py

smoke: dist  ## install the wheel into an empty environment outside the checkout, and use it
	@$(BIN)/python .ci/smoke.py

smoke-lowest: dist  ## the same with the oldest versions that are allowed (Python 3.11)
	@$(BIN)/python .ci/smoke.py --lowest

bench: setup-dev  ## speed against named peers, as ratios; steps and gaps; then what the runner itself costs
	@$(BIN)/python -m benchmarks
	@$(BIN)/python -m benchmarks.fits
	@$(BIN)/python -m benchmarks.overhead

reproduce-quick: setup  ## every experiment with few splits of few rows, into build/quick; says nothing of the papers
	@rm -rf build/quick-configs
	@$(BIN)/python .ci/quick_configs.py build/quick-configs
	@$(BIN)/fsvm run $(patsubst %,build/quick-%,$(filter-out $(SMALL) $(SLOW),$(wildcard configs/*.yaml))) $(QUICK) --rows $(QUICK_ROWS)
	@$(BIN)/fsvm run $(SMALL) $(QUICK)
	@$(BIN)/fsvm report build/quick

reproduce-all: setup  ## every experiment in full, into results; what is there already is not run again
	@$(BIN)/fsvm run configs/*.yaml --jobs $(JOBS)
	@$(BIN)/fsvm compare results --scorecard
	@$(BIN)/fsvm report results
	@if [ -e .venv/complete-dev ]; then $(BIN)/python docs/generate.py; fi

provenance: setup-dev  ## docs/provenance.csv: which rules the history shows to be fixed before the figure was known
	@$(BIN)/python .ci/provenance.py

RESOLVE := uv pip compile --quiet --generate-hashes --upgrade --no-emit-index-url --no-emit-find-links \
  --custom-compile-command "make lock"
COMPILE := $(RESOLVE) --universal --python-version 3.11 --group build
EXTRAS := --extra dask --extra excel --extra skops

lock:  ## resolve the dependencies anew (needs uv): all, those for running among them, and the oldest that are allowed
	@$(COMPILE) --all-extras pyproject.toml --output-file requirements-dev.lock
	@$(COMPILE) --constraint requirements-dev.lock pyproject.toml --output-file requirements.lock
	@$(RESOLVE) --python-version 3.11 --resolution lowest-direct $(EXTRAS) pyproject.toml --output-file requirements-lowest.lock

clean:  ## remove the environment and all that can be made again
	rm -rf .venv build dist .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
