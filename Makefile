# What a newcomer needs: `make demo`, then `make test`. `make help` lists the rest.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
# Two processes: one works with the cluster and mostly waits for it, the other does all else.
PYTEST := $(BIN)/pytest --numprocesses 2 --dist loadgroup

.DEFAULT_GOAL := help
.PHONY: help demo proof test test-long test-hbase check format docs bench hbase lock clean

help:
	@grep -E '^[a-z-]+:.*  # ' Makefile | sed -E 's/:.*# /\t/' | expand -t 14

$(READY): requirements/dev.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "rowkey needs Python 3.11 or newer; $(PYTHON) is " + sys.version.split()[0] + ". Name another: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/dev.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(READY)  # judge six designs on two real recordings that ship with rowkey
	$(BIN)/python tools/demo.py

test: $(READY) check  # everything CI runs: style, types, walls, docs, laws, the Java oracles
	$(PYTEST) -m "not long"

test-long: $(READY)  # the same laws with deeper loops; writes docs/reliability.md
	HYPOTHESIS_PROFILE=long $(PYTEST) --durations=40
	$(BIN)/python tools/reliability.py

VERSION ?= 2.5.13-hadoop3
test-hbase: $(READY)  # what is asked of a cluster, asked of another HBase: make test-hbase VERSION=...
	ROWKEY_HBASE_VERSION=$(VERSION) $(BIN)/pytest -m "not long" tests/engines tests/hbase tests/table/test_on_a_cluster.py tests/observe/test_on_hbase.py

check: $(READY)  # style, types, import walls, stale docs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python tools/docs.py --check

format: $(READY)  # let ruff mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

proof: $(READY)  # prove sixteen designs on a real cluster, and write docs/proof.md
	$(BIN)/python tools/proof.py

docs: $(READY)  # write the generated reference anew
	$(BIN)/python tools/docs.py

bench: $(READY)  # measure, and write benchmarks/results and docs/performance.md
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/bench.lock
	$(BIN)/python benchmarks/run.py

hbase: $(READY)  # a real HBase of three servers until Ctrl-C; tools/hbase.py kills, moves, splits
	$(BIN)/python tools/hbase.py

lock: $(READY)  # resolve the dependencies anew
	$(BIN)/python tools/lock.py

clean:  # remove what make made
	rm -rf .venv demo build dist .hypothesis .mypy_cache .ruff_cache
