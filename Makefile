# Every target makes its own environment first, in .venv (or .venv-python3.12 with PYTHON=python3.12).
PYTHON ?= python3
VENV ?= .venv$(patsubst %,-%,$(filter-out python3,$(notdir $(PYTHON))))
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check --constraint tests/constraints.txt

# The tests start many small programs, and two of torch's thread pools for one core are slower than none.
export OMP_NUM_THREADS ?= 1

# They would compile samedevice anew each time, too, where a machine tells Python to keep nothing.
unexport PYTHONDONTWRITEBYTECODE

# As many processes as there are cores; JOBS=0 runs them in one, for a debugger.
JOBS ?= auto
PYTEST := $(BIN)/python -m pytest -q --numprocesses $(JOBS) --maxprocesses 8 --dist worksteal

.PHONY: test test-all lint demo vscode properties conformance fuzz bench mutation ecosystem docs docs-version screens picture first-five package changelog licences ci-test gpu-proof xla-proof sweep clean

test: lint
	$(PYTEST) -m "not slow" $(TESTS)

# With the tests that take more than ten seconds each.
test-all: lint
	$(PYTEST) $(TESTS)

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --quiet --check .
	$(BIN)/mypy

demo: $(VENV)/.installed
	@PATH="$(abspath $(BIN)):$$PATH" sh docs/demo.sh

# The extension for Visual Studio Code: types, lint, unit tests, codemods/vscode/samedevice.vsix; needs npm.
vscode:
	cd codemods/vscode && npm ci --no-audit --no-fund && npm test && npm run package

# Hundreds of generated programs instead of a few, and the tests of Python's own library.
properties: $(VENV)/.installed
	$(BIN)/python -m pytest -q -m slow tests/robustness
	$(BIN)/python tests/robustness/standard_library.py

# Whether the inference is right: its suites whole, and what is inferred against what is observed when
# programs run on the virtual accelerator. CORPUS=DIR, with checkouts of the real programs and of the
# libraries as DIR/<owner>+<name>, runs those as well and writes docs/proof/inference.md.
PAGE := docs/proof/inference.md
conformance: $(VENV)/.installed
	$(PYTEST) tests/conformance
	$(BIN)/python -m tests.conformance.oracle $(if $(CORPUS),--corpus $(CORPUS) --page $(PAGE))

# Bytes into all that reads files, led by coverage; SECONDS=3600 for longer.
fuzz: $(VENV)/.installed
	@$(PIP) atheris
	$(BIN)/python tests/robustness/fuzz_front.py -max_total_time=$(or $(SECONDS),300) -timeout=20

# Beside ast, libcst, Ruff, Fixit and TorchFix on a corpus that pip fetches; some minutes.
bench: $(VENV)/.installed
	$(BIN)/python tests/benchmarks/bench_peers.py --svg docs/benchmarks.svg

# How much of what is taken out of programs that are right comes back, and that no repair breaks a program.
mutation: $(VENV)/.installed
	$(BIN)/python -m tests.benchmarks.bench_mutation
	$(BIN)/python -m tests.benchmarks.disturb

# What has changed on public projects since a revision: make ecosystem OLD=main > page.md
ecosystem: $(VENV)/.installed
	@$(BIN)/python -m tests.ecosystem $(OLD)

# The site of the documentation, in site/; a warning is an error.
docs: $(VENV)/.installed
	@$(PIP) --editable '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

# The same as one version among others, on the local branch gh-pages: make docs-version VERSION=0.1
docs-version: $(VENV)/.installed
	@$(PIP) --editable '.[docs]' 'mike>=2.1,<3'
	PATH="$(abspath $(BIN)):$$PATH" VERSIONS=mike NO_MKDOCS_2_WARNING=1 $(BIN)/mike deploy --update-aliases $(VERSION) latest
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/mike set-default latest

# Pictures of the map, the reports and the site at three widths, for docs/proof/screens.md; needs Chromium.
screens: docs
	$(BIN)/python docs/screens.py

# The README's picture of a terminal, from a real run.
picture: $(VENV)/.installed
	$(BIN)/python docs/picture.py

# Wheel and sdist, and tests against the wheel on each of python3.10 to python3.13 that is there.
package: $(VENV)/.installed
	@$(PIP) build
	$(BIN)/python tests/package.py

# What a newcomer does, in an empty environment: writes docs/proof/first_five_minutes.md.
first-five: $(VENV)/.installed
	@$(PIP) build
	$(BIN)/python docs/first_five.py

# The section of the changelog for the files in changes/: shown, or with VERSION=0.2 written.
changelog: $(VENV)/.installed
	@$(PIP) 'towncrier>=24.8,<26'
	$(BIN)/towncrier build --version $(or $(VERSION),next) $(if $(VERSION),--yes,--draft)

# The packages that an installation brings, with versions and licences: dist/licences.md and an SBOM.
licences:
	$(PYTHON) -m venv dist/licences
	@dist/licences/bin/python -m pip install -qq --disable-pip-version-check '.[modernize,server,github,gitlab,gitea,bitbucket,azure]'
	@$(PYTHON) -m venv dist/tools
	@dist/tools/bin/python -m pip install -qq --disable-pip-version-check pip-licenses cyclonedx-bom
	dist/tools/bin/pip-licenses --python dist/licences/bin/python --format markdown --with-urls --output-file dist/licences.md
	dist/tools/bin/cyclonedx-py environment --output-file dist/sbom.json dist/licences/bin/python

# The hooks under pre-commit itself, the installation of the GitHub Action, and the README's by pipx
# and uvx; needs a network.
ci-test: $(VENV)/.installed
	@$(PIP) pre-commit pipx uv
	SAMEDEVICE_CI_TEST=1 $(BIN)/python -m pytest -q tests/test_ci.py tests/test_packaging.py

# Every operation and module that torch's own tests know, on the virtual accelerator; half an hour.
# A deviation that is new fails; WRITE=1 writes docs/proof/virtual.md.
sweep: $(VENV)/.installed
	@$(PIP) expecttest
	$(BIN)/python tests/prove/virtual/sweep.py $(if $(WRITE),--write)

# On a machine with a GPU whose PYTHON has torch (and pytest): no environment is made.
gpu-proof:
	$(PYTHON) tests/prove/gpu_proof.py --page docs/proof/gpu.md

# Fixtures and, with CORPUS=DIR, 45 real programs on torch_xla, which needs 7 GB outside of here.
XLA_VENV ?= $(HOME)/.cache/samedevice/xla
xla-proof: $(VENV)/.installed
	test -e $(XLA_VENV)/bin/python || $(PYTHON) -m venv $(XLA_VENV)
	@$(XLA_VENV)/bin/python -m pip install -qq --disable-pip-version-check torch==2.9.0 \
	  torch_xla==2.9.0 torchvision==0.24.0 'numpy<2.4' matplotlib pandas scikit-learn
	$(BIN)/python -m tests.prove.xla_proof --python $(XLA_VENV)/bin/python \
	  $(if $(CORPUS),--corpus $(CORPUS) --most 45)

# torch as tests/constraints.txt has it, the small build for CPUs: from where pip looks, else from
# where its makers keep it. Without one, all that needs no torch is there and is tested.
EXTRAS := modernize,server,github,gitlab,gitea,bitbucket,azure,image
TORCH_FOR_CPU ?= https://download.pytorch.org/whl/cpu

$(VENV)/.installed: pyproject.toml tests/constraints.txt
	$(PYTHON) -m venv $(VENV)
	@$(PIP) --editable '.[dev,prove,$(EXTRAS)]' 2>$(VENV)/pip.log || { \
	  $(PIP) --no-deps --retries 1 --timeout 20 --index-url $(TORCH_FOR_CPU) torch 2>>$(VENV)/pip.log && \
	  $(PIP) --editable '.[dev,prove,$(EXTRAS)]'; } || { \
	  echo "No CPU build of torch 2.13.0 for $$($(BIN)/python --version) was found (see $(VENV)/pip.log)."; \
	  echo "Going on without torch: tests that need it are skipped. To have it, give pip an index"; \
	  echo "of such builds (PIP_EXTRA_INDEX_URL), and run make clean first."; \
	  $(PIP) --editable '.[dev,$(EXTRAS)]'; }
	@touch $@

clean:
	rm -rf .venv .venv-* .mypy_cache .pytest_cache .ruff_cache
