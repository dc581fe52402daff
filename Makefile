# make demo | test | lab. Everything is installed into .venv; nothing else on the machine changes.
#
#   PYTHON    the Python to make .venv with (3.11 or newer)
#   PIP_ARGS  more arguments for pip install, for instance a wheel index for a torch without CUDA:
#             make demo PIP_ARGS="--extra-index-url https://download.pytorch.org/whl/cpu"

PYTHON ?= python3
PIP_ARGS ?=
BIN := .venv/bin

.PHONY: help demo test lab

help:
	@echo "make demo   install into .venv and run the main job on the embedded default (resumes)"
	@echo "make test   install what the tests need, then ruff, pyright and pytest with the notebook"
	@echo "make lab    install and open JupyterLab in notebooks/"

demo: .venv/.installed
	$(BIN)/mnemoscope run demo

test: .venv/.installed-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/pytest

lab: .venv/.installed-lab
	$(BIN)/jupyter lab --notebook-dir notebooks $(if $(filter 0,$(shell id -u)),--allow-root)

# The stamps: an installation is repeated when pyproject.toml has changed since.
.venv/.installed: pyproject.toml | .venv/.created
	$(BIN)/python -m pip install $(PIP_ARGS) --editable .
	@touch $@

.venv/.installed-test: pyproject.toml | .venv/.created
	$(BIN)/python -m pip install $(PIP_ARGS) --editable ".[test]"
	@touch $@ .venv/.installed .venv/.installed-lab

.venv/.installed-lab: pyproject.toml | .venv/.created
	$(BIN)/python -m pip install $(PIP_ARGS) --editable ".[lab]"
	@touch $@ .venv/.installed

.venv/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "mnemoscope needs Python 3.11 or newer, but $(PYTHON) is: $$($(PYTHON) --version 2>&1)"; \
	  echo "Name another one: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv || { \
	  echo "No virtual environment could be made; on Debian: apt-get install python3-venv"; exit 1; }
	$(BIN)/python -m pip install --upgrade pip
	@touch $@
