# A fresh clone needs git, make, a network and Python 3.11 or newer; all else goes into .venv and .venv-*.
# Another interpreter: make test PYTHON=/path/to/python3. More for pytest or the benchmarks: make test ARGS="-k finish".

VENV = .venv
BIN = $(VENV)/bin
# The frameworks and what is measured stay apart: they must not decide which versions the tests see.
FRAMEWORKS_VENV = .venv-frameworks
BENCH_VENV = .venv-bench
PYTHON =
CANDIDATES = $(or $(PYTHON),python3.14 python3.13 python3.12 python3.11 python3 python)
ARGS =
comma = ,

COMMANDS = demo test frameworks consumers browser lint types docs build bench clean
about-demo = replay captured streams through streamshim, in the terminal; nothing leaves this machine
about-test = run the whole test suite with pytest
about-frameworks = run the tests that need litellm, langchain-openai and pydantic-ai
about-consumers = let the AI SDK read what is encoded; needs Node.js 20 and npm
about-browser = look at the pages of `streamshim timeline` and `check` with a real browser; needs Chromium
about-lint = check style, formatting and the direction of imports
about-types = check the types with mypy and pyright
about-docs = build the documentation into docs/_build; warnings are errors
about-build = build the sdist and the wheel into dist
about-bench = measure speed and memory beside other libraries: make bench ARGS="--list"
about-clean = remove all that these commands made, .venv and .venv-* as well

$(foreach command,$(filter $(COMMANDS),$(MAKECMDGOALS)),$(info ==> $(command): $(about-$(command))))

.PHONY: help $(COMMANDS)

help:
	@$(foreach command,$(COMMANDS),printf '  make %-10s %s\n' '$(command)' '$(about-$(command))';)

demo: $(VENV)/.demo
	@$(BIN)/streamshim demo

test: $(VENV)/.test
	@$(BIN)/python -m pytest $(ARGS)

frameworks: $(FRAMEWORKS_VENV)/.frameworks
	@$(FRAMEWORKS_VENV)/bin/python -m pytest tests/frameworks $(ARGS)

consumers: $(VENV)/.test
	@$(BIN)/python -m tests.consumers_js.run

browser: $(VENV)/.test $(VENV)/.browser
	@for browser in chromium chromium-browser google-chrome google-chrome-stable; do \
		command -v $$browser >/dev/null && found=1 && break; \
	done; \
	if [ -z "$$found" ]; then \
		echo "make: no Chromium was found; on Debian and Ubuntu: apt install chromium, then give the same command again."; \
		exit 1; \
	fi >&2
	@$(BIN)/python -m pytest tests/browser $(ARGS)

lint: $(VENV)/.lint
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --no-logo

types: $(VENV)/.lint $(VENV)/.test
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build
	@echo "docs/_build/index.html"

build: $(VENV)/.build
	@rm -rf dist
	$(BIN)/python -m build

bench: $(BENCH_VENV)/.bench
	@$(BENCH_VENV)/bin/python -m benchmarks $(ARGS)

clean:
	rm -rf $(VENV) $(FRAMEWORKS_VENV) $(BENCH_VENV) dist docs/_build tests/consumers_js/node_modules .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find streamshim tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} +

# $(call install,what,pip's arguments): done once, and again when pyproject.toml changes.
define install
	@echo "==> installing $(1) into $(@D) (once)"
	@$(@D)/bin/python -m pip --disable-pip-version-check --no-input install $(2) || { \
		echo; \
		echo "make: pip could not install $(1); its reason stands above."; \
		echo "make: if that speaks of connections, retries or 'no matching distribution', the package index cannot be"; \
		echo "make: reached: check the network, or set PIP_INDEX_URL or HTTPS_PROXY, and give the same command again."; \
		exit 1; } >&2
	@touch $@
endef

$(VENV)/.python $(FRAMEWORKS_VENV)/.python $(BENCH_VENV)/.python:
	@found=; bare=; \
	for python in $(CANDIDATES); do \
		"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
		bare=$$python; \
		"$$python" -c 'import ensurepip, venv' 2>/dev/null || continue; \
		found=$$python; break; \
	done; \
	if [ -z "$$bare" ]; then \
		echo "make: no Python 3.11 or newer was found (tried: $(CANDIDATES))."; \
		echo "make: install one, or name it: make test PYTHON=/path/to/python3"; \
		exit 1; \
	elif [ -z "$$found" ]; then \
		echo "make: $$bare cannot make virtual environments; on Debian and Ubuntu: apt install python3-venv"; \
		exit 1; \
	fi >&2; \
	echo "==> making $(@D) with $$("$$found" --version) ($$(command -v "$$found"))"; \
	"$$found" -m venv $(@D)
	$(call install,a current pip,--upgrade 'pip>=25.1')

$(VENV)/.demo: pyproject.toml $(VENV)/.python
	$(call install,streamshim$(comma) with what its demo needs,--editable '.[cli$(comma)httpx2]')

$(VENV)/.test: pyproject.toml $(VENV)/.python
	$(call install,streamshim$(comma) with what its tests need,--editable . --group test)

$(FRAMEWORKS_VENV)/.frameworks: pyproject.toml $(FRAMEWORKS_VENV)/.python
	$(call install,streamshim$(comma) with the frameworks and what their tests need,--editable . --group frameworks)

$(VENV)/.lint: pyproject.toml $(VENV)/.python
	$(call install,the linters and type checkers,--group lint)

$(VENV)/.browser: pyproject.toml $(VENV)/.python
	$(call install,what drives a browser,--group browser)

$(VENV)/.docs: pyproject.toml $(VENV)/.python
	$(call install,streamshim$(comma) with what its documentation needs,--editable . --group docs)

$(VENV)/.build: pyproject.toml $(VENV)/.python
	$(call install,the build tools,--group build)

$(BENCH_VENV)/.bench: pyproject.toml $(BENCH_VENV)/.python
	$(call install,streamshim$(comma) with the libraries that it is measured beside,--editable . --group bench)
