# Every target works on a fresh machine with Python 3.11 or later, pip and make; what it needs goes into .venv.

PYTHON ?= python3
# Where pip finds torch besides its usual index, e.g. "--extra-index-url https://download.pytorch.org/whl/cpu".
TORCH_SOURCE ?=
PYTEST_ARGS ?=
BENCH_ARGS ?=
BROWSER ?= installed

BIN := .venv/bin
INSTALLED := .venv/.installed
BENCH := .venv/.bench
DOCS := .venv/.docs
DEMO := .venv/.demo
LOWEST := .venv-lowest/.installed

# Data sets that are not shipped; tests that read them are skipped where the folder is not known.
ifndef GRAPHPRI_DATA
GRAPHPRI_DATA := $(shell cd ../shared/data 2>/dev/null && pwd)
endif
ifneq ($(GRAPHPRI_DATA),)
export GRAPHPRI_DATA
endif

# Compiled modules are kept: the tests start many interpreters.
unexport PYTHONDONTWRITEBYTECODE

.DELETE_ON_ERROR:
.PHONY: help demo dist test lowest lint format bench docs fuzz pages clean browser-installed browser-install

help:
	@echo "make demo    sparsify a real graph and print a report"
	@echo "make dist    build wheel and sdist, and try what the README shows with each"
	@echo "make test    run the tests (PYTEST_ARGS=...)"
	@echo "make lowest  run the tests with the lowest versions that pyproject.toml allows (PYTEST_ARGS=...)"
	@echo "make pages   run the code of the pages that train networks (the tests run that of the others)"
	@echo "make lint    check style, types and the direction of imports"
	@echo "make format  format the code"
	@echo "make bench   run the benchmarks (BENCH_ARGS=--quick: minutes instead of hours)"
	@echo "make docs    build the documentation site in out/docs"
	@echo "make clean   remove .venv and its like, caches and results"

# The library and matplotlib alone: all that the demo needs.
$(DEMO): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "graphpri needs Python 3.11 or later, and $(PYTHON) is " + sys.version.split()[0] + ": make PYTHON=python3.12 ...")'
	@echo "Installing graphpri and matplotlib into .venv; this takes a minute or two the first time"
	@test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --log .venv/install.log \
		-c constraints.txt -e '.[plot]' || { echo "Installation failed; details in .venv/install.log" >&2; exit 1; }
	@touch $@

$(INSTALLED): $(DEMO)
	@echo "Adding what the tests of graphpri need to .venv; this takes a few minutes the first time"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --log .venv/install.log $(TORCH_SOURCE) \
		-c constraints.txt -e '.[all,test,lint]' || { echo "Installation failed; details in .venv/install.log" >&2; exit 1; }
	@touch $@

demo: $(DEMO)
	@echo "Sparsifying Zachary's karate club, which comes with networkx, to 30 % of its 78 edges"
	@mkdir -p out
	$(BIN)/graphpri sparsify karate -o out/small.graphml --keep 0.3 --plot out/small.png --force

# Wheel and sdist, installed into a clean environment each, where what the README shows must run.
dist:
	rm -rf dist .venv-dist
	$(PYTHON) -m venv .venv-dist
	.venv-dist/bin/python -m pip install -qq --disable-pip-version-check build
	.venv-dist/bin/python -m build --outdir dist > /dev/null
	.venv-dist/bin/python .ci/check_dist.py dist

# A test file at a time on each core; the files of studies on the same one (tests/conftest.py). The browser tests use an
# installed Chromium; without one they are skipped, unless BROWSER=install says to get Debian's package (as root).
test: $(INSTALLED) browser-$(BROWSER)
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile $(PYTEST_ARGS)

# Damaged files of every format through the command line, for longer than the tests do; a seed gives the same runs.
fuzz: $(INSTALLED)
	$(BIN)/python tests/fuzzing.py $(FUZZ_ARGS)

# The code of the pages that train networks; tests run that of all others.
pages: $(INSTALLED)
	$(BIN)/python docs/run_blocks.py gnn.md

browser-installed:

browser-install:
	@command -v chromium > /dev/null || (apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium) \
		> .venv/browser.log 2>&1 || echo "Chromium could not be installed: the browser tests will be skipped" >&2

# The libraries in the lowest versions that pyproject.toml allows, extras included; tools in their newest. Old versions
# warn of what newer ones deprecate.
$(LOWEST): pyproject.toml .ci/lowest.py
	@echo "Installing the lowest versions into .venv-lowest; this takes a few minutes the first time"
	@test -x .venv-lowest/bin/pip || $(PYTHON) -m venv .venv-lowest
	@$(PYTHON) .ci/lowest.py > .venv-lowest/constraints.txt
	@.venv-lowest/bin/python -m pip install -qq --disable-pip-version-check --log .venv-lowest/install.log $(TORCH_SOURCE) \
		-c .venv-lowest/constraints.txt -e '.[all,test]' \
		|| { echo "Installation failed; details in .venv-lowest/install.log" >&2; exit 1; }
	@touch $@

lowest: $(LOWEST)
	.venv-lowest/bin/python -m pytest --numprocesses auto --dist loadfile \
		-W ignore::DeprecationWarning -W ignore::FutureWarning $(PYTEST_ARGS)

lint: $(INSTALLED)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright
	$(BIN)/lint-imports

format: $(INSTALLED)
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# Libraries that only the benchmarks compare with.
$(BENCH): $(INSTALLED)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --log .venv/install.log \
		-c constraints.txt -e '.[bench]' || { echo "Installation failed; details in .venv/install.log" >&2; exit 1; }
	@touch $@

bench: $(BENCH)
	$(BIN)/python benchmarks/run.py $(BENCH_ARGS)

# What builds the site.
$(DOCS): $(INSTALLED)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --log .venv/install.log \
		-c constraints.txt -e '.[docs]' || { echo "Installation failed; details in .venv/install.log" >&2; exit 1; }
	@touch $@

# From a copy, since gallery and reference are written beside the pages.
docs: $(DOCS)
	rm -rf out/docs out/docs-pages
	mkdir -p out
	cp -Rp docs out/docs-pages
	cp -p README.md CONTRIBUTING.md CHANGELOG.md CITATION.cff LICENSE out/docs-pages
	MPLBACKEND=Agg $(BIN)/sphinx-build -q -W --keep-going -c docs -d out/docs-pages/.doctrees out/docs-pages out/docs
	@echo "The site: out/docs/index.html"

clean:
	rm -rf .venv .venv-dist .venv-lowest out build dist .benchmarks .hypothesis .import_linter_cache .pytest_cache .ruff_cache
	find src tests benchmarks examples -name __pycache__ -prune -exec rm -rf {} +
