# `make demo` and `make test` do everything on a fresh machine. `make help` lists the rest.
PYTHON ?= python3
BIN := .venv/bin
RUN := .venv/run-ready
DEV := .venv/dev-ready
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
# Tests wait for processes, browsers and the cluster: three keep two cores busy.
PYTEST := $(BIN)/pytest --numprocesses 3 --dist loadgroup --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help demo proof pictures test test-long test-hbase check format docs site bench hbase lock clean

help:
	@grep -E '^[a-z-]+:.*  # ' Makefile | sed -E 's/:.*# /\t/' | expand -t 14

$(RUN): requirements/run.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "rowkey needs Python 3.11 or newer; $(PYTHON) is " + sys.version.split()[0] + ". Name another: make PYTHON=python3.12 ...")'
	@echo "Creating .venv and installing rowkey with what it needs to run (about 100 MB to download)"
	@$(PYTHON) -m venv .venv
	@$(PIP) --require-hashes -r requirements/run.lock
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(DEV): $(RUN) requirements/dev.lock
	@echo "Installing the tools of the tests into .venv (about 80 MB to download)"
	@$(PIP) --require-hashes -r requirements/dev.lock
	@touch $@

demo: $(RUN)  # judge six designs on two real recordings that ship with rowkey
	$(BIN)/python tools/demo.py

test: $(DEV) check  # everything CI runs: style, types, imports, docs, tests, Java oracles, HBase
	$(PYTEST) -m "not long"

# The cluster's long loops run alone: next to other tests its servers are slow and calls time out.
test-long: $(DEV)  # the same tests with deeper loops; writes docs/reliability.md
	HYPOTHESIS_PROFILE=long $(PYTEST) --durations=40 -m "not cluster"
	HYPOTHESIS_PROFILE=long $(BIN)/pytest --durations=40 -m cluster
	$(BIN)/python tools/reliability.py --matrix

VERSION ?= 2.5.13-hadoop3
test-hbase: $(DEV)  # the cluster tests on another HBase: make test-hbase VERSION=...
	ROWKEY_HBASE_VERSION=$(VERSION) $(BIN)/pytest -m "not long" tests/engines tests/hbase tests/table/test_on_a_cluster.py tests/observe/test_on_hbase.py

check: $(DEV)  # style, types, imports, stale docs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@# mypy's workers have 3 s to begin, too few on a busy machine: then it works alone.
	$(BIN)/mypy || { [ $$? = 2 ] && $(BIN)/mypy --num-workers 0; }
	$(BIN)/lint-imports --no-cache
	$(BIN)/python tools/docs.py --check

format: $(DEV)  # let ruff fix what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

proof: $(DEV)  # prove designs on a real cluster and write docs/proof.md and docs/cases
	$(BIN)/python tools/proof.py
	$(BIN)/python -m tools.cases
	$(BIN)/python -m tools.read_load

pictures: $(DEV)  # take the pictures of the portal for the docs; needs Chromium
	$(BIN)/python tools/portal_pictures.py

docs: $(DEV)  # write the generated reference
	$(BIN)/python tools/docs.py

site: $(DEV)  # build the documentation site into build/site and fail on dead links
	$(PIP) --require-hashes -r requirements/site.lock
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(DEV)  # measure, and write benchmarks/results and docs/performance.md
	$(PIP) --require-hashes -r requirements/bench.lock
	$(BIN)/python benchmarks/run.py

hbase: $(DEV)  # a real HBase of three servers until Ctrl-C; tools/hbase.py kills, moves, splits
	$(BIN)/python tools/hbase.py

lock: $(RUN)  # resolve the dependencies and write requirements/*.lock
	$(BIN)/python tools/lock.py

clean:  # remove what make made
	rm -rf .venv demo build dist .hypothesis .mypy_cache .ruff_cache
