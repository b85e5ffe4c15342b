# Each target sets up .venv by itself, once. `make help` lists them.

PYTHON ?= python3
PORT ?=
ADDRESS ?=

CHOSEN := $(if $(filter file,$(origin PYTHON)),,--chosen)
RUN := .venv/bin/python
SETUP := $(PYTHON) tools/setup_venv.py
SERVE := $(RUN) -m qkv.commands.serve $(if $(PORT),--port $(PORT)) $(if $(ADDRESS),--address $(ADDRESS))
LOCK := .venv/bin/uv pip compile --quiet --no-strip-extras --custom-compile-command 'make lock'
BUILD := $(RUN) tools/fetch_npm.py && $(if $(SOLUTIONS),QKV_SOLUTIONS='$(SOLUTIONS)') $(RUN) tools/build_book.py

.DEFAULT_GOAL := help
.PHONY: help book html serve slides pdf assignments dist quick test test-live release-check notebooks translations facts new-exercise new-chapter mutants bench lock clean python reader tester

help:
	@echo 'make book       build the book and serve it on this machine, its cells live'
	@echo 'make html       build the book into _build/html'
	@echo '                without solutions: make html SOLUTIONS=0'
	@echo 'make serve      serve what make html built'
	@echo 'make slides     cut every chapter into a deck of slides, into _build/slides'
	@echo 'make pdf        print the whole book, and each chapter, into _build/pdf'
	@echo 'make quick      lint, types, and the tests of the concepts that you changed'
	@echo 'make test       test everything: code, notebooks, pages'
	@echo 'make test-live  run every cell of every chapter live, in a browser'
	@echo 'make release-check  build and test all that a release publishes; asks the package index'
	@echo 'make dist       build the package into _build/dist, as a release publishes it'
	@echo 'make assignments  the exercises for nbgrader, into _build/assignments; POINTS=my.csv'
	@echo 'make notebooks  run the chapters in place and store what they print'
	@echo 'make translations  bring catalogues and notebooks in other languages to the English ones'
	@echo 'make facts      write titles and minutes of the chapters wherever the book shows them'
	@echo 'make new-exercise CHAPTER=masks, make new-chapter NAME=...  lay one out'
	@echo 'make mutants    plant faults in the package; each must be noticed'
	@echo 'make bench      measure pages and functions'
	@echo 'make lock       choose and hash every package anew, after a change of a pin'
	@echo 'make clean      remove what was built; .venv stays'
	@echo
	@echo 'Another Python: make test PYTHON=python3.12'
	@echo 'A port of your choice: make serve PORT=8123'
	@echo 'A browser that does not find the book, as Safari: make serve ADDRESS=127.0.0.1'

book: reader
	@$(BUILD)
	@$(SERVE)

html: reader
	@$(BUILD)

serve: reader
	@$(SERVE)

slides: reader
	@$(BUILD)
	@$(RUN) -m tools.slides

pdf: tester
	@$(BUILD)
	@$(RUN) -m tools.pdf

quick: tester
	@$(RUN) tools/run_tests.py --quick

test: tester
	@$(RUN) tools/fetch_npm.py --dev
	@$(RUN) tools/run_tests.py

test-live: tester
	@$(BUILD)
	@$(RUN) tools/run_tests.py --only live

release-check: tester
	@$(BUILD)
	@$(RUN) tools/run_tests.py --only release

dist: tester
	@.venv/bin/uv build --quiet --offline --no-build-isolation --clear --out-dir _build/dist
assignments: tester
	@$(RUN) -m tools.assignments $(if $(POINTS),--points '$(POINTS)')

notebooks: reader
	@$(RUN) tools/run_notebooks.py
	@$(RUN) tools/book_facts.py

translations: reader
	@$(RUN) -m tools.translations

facts: reader
	@$(RUN) tools/book_facts.py

new-exercise: reader
	@$(RUN) tools/new_exercise.py $(CHAPTER)

new-chapter: reader
	@$(RUN) tools/new_chapter.py $(NAME)

mutants: tester
	@$(RUN) tools/mutants.py

bench: tester
	@$(BUILD)
	@set -e; for file in benchmarks/*.py; do echo "$$file"; $(RUN) $$file; done

lock: tester
	@$(LOCK) --no-emit-package triton --output-file requirements.lock requirements.txt
	@$(LOCK) --extra test --constraint requirements.lock --output-file requirements-test.lock \
	  requirements.txt pyproject.toml

clean:
	rm -rf _build node_modules .mypy_cache .pytest_cache .ruff_cache .hypothesis build
	rm -rf .ipynb_checkpoints
	find src tests tools book chapters benchmarks -name __pycache__ -prune -exec rm -rf {} + \
	  -o -name '.*_cache' -prune -exec rm -rf {} + -o -name .ipynb_checkpoints -prune -exec rm -rf {} +

python:
	@command -v $(PYTHON) >/dev/null || { \
	  echo 'There is no $(PYTHON) here. Name a Python from 3.11 on: make book PYTHON=python3.12' >&2; \
	  exit 1; }

reader: python
	@$(SETUP) book $(CHOSEN)

tester: python
	@$(SETUP) test $(CHOSEN)
