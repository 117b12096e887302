# Every target installs what it needs by itself; nothing but Python, make and, for the client for browsers, Node is assumed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SERVICE := $(VENV)/.service
READY := $(VENV)/.ready
BENCH := .venv-bench
OLDEST := .venv-oldest
DEPLOYED := build/deployed
PINS := .venv-pins
SBOM := build/sbom.json
PINS_FOR_DEV := $(if $(PINNED),--constraint constraints-dev.txt)  # with PINNED=1 the versions that were tested last
unexport PYTHONDONTWRITEBYTECODE  # every start would compile hundreds of modules again

.PHONY: demo test check bench picture capacity predictions recommendations company audit claims survey twins attacks certificates docs \
	vectors stress oldest measured examples format constraints tested sbom clean

# In two stages: who only looks at the demonstration waits for neither Spark nor Sphinx.
$(SERVICE): pyproject.toml service/pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile $(PINS_FOR_DEV) --editable . --editable ./service
	touch $@

$(READY): $(SERVICE) survey/pyproject.toml
	$(BIN)/python -m pip install --quiet --no-compile $(PINS_FOR_DEV) --editable '.[dev]' --editable ./service --editable ./survey
	touch $@

demo: $(SERVICE)  ## 200 simulated devices report over loopback to a shuffler and an analyser; the answer is proved
	$(BIN)/headcount demo

test: $(READY)  ## every protocol, engine and page, on all cores; what needs Node, Chromium, Java or PostgreSQL is skipped without
	$(BIN)/python -m pytest -n auto --dist worksteal

check: $(READY)  ## style, types, import contracts, and every example in the docs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n auto --dist worksteal docs

docs: $(READY)  ## the site, in build/site: figures and studies are computed once, warnings are errors, every page is checked
	$(BIN)/python docs/build.py --out build/site

audit: $(READY)  ## what every protocol was put through, on one page; most of an hour
	$(BIN)/python -m headcount_survey.pages.audit --out docs/audit.md

certificates: $(READY)  ## plans over a grid of budgets and crowds, proved again, and refuted with less noise
	$(BIN)/python -m headcount_survey.pages.certificates --out docs/certificates.md

claims: $(READY)  ## every claim about small crowds against the exact truth; about a quarter of an hour
	$(BIN)/python -m headcount_survey.pages.claims --out docs/claims.md

survey: $(READY)  ## what the notes and papers say and what became of it: statements, errata and answers, each row recomputed
	$(BIN)/python -m headcount_survey.pages.statements --out docs

twins: $(READY)  ## every protocol broken in every way, and what notices; about half an hour
	$(BIN)/python -m headcount_survey.pages.twins --out docs/twins.md

predictions: $(READY)  ## predicted error, interval and coverage against 20,000 runs of every protocol; a quarter of an hour
	$(BIN)/python -m headcount_survey.pages.predictions --out docs/predictions.md

recommendations: $(READY)  ## is the recommended plan the best? by brute force and beside its rivals; some ten minutes
	$(BIN)/python -m headcount_survey.pages.recommendations --out docs/recommendations.md

company: $(READY)  ## which algorithm should company A use? three crowds, by two papers and by the advisor
	$(BIN)/python -m headcount_survey.pages.company --out docs/company-a.md

attacks: $(READY)  ## a million runs of every protocol's smallest instances, attacked from the outside
	$(BIN)/python -m headcount_survey.pages.attacks --out docs/attacks.md

bench:  ## speed, memory and accuracy beside the peers, each in an environment of its own; writes docs/benchmarks.md
	$(PYTHON) benchmarks/environments.py
	$(BENCH)/headcount/bin/python benchmarks/run.py --out docs/benchmarks.md

capacity: $(READY)  ## what each stage costs at several sizes, and how many people that makes; about ten minutes, on a quiet machine
	$(BIN)/python benchmarks/capacity.py --out docs/capacity.md

stress: $(READY)  ## every instance of every check, long fuzzing, hundreds of kills, a soak; MINUTES=40 ORDER=7: what begins by then
	$(BIN)/python -m pytest -n auto --dist worksteal -m stress $(if $(MINUTES),--minutes $(MINUTES)) $(if $(ORDER),--order $(ORDER))
	$(if $(MINUTES),,$(BIN)/python benchmarks/soak.py 120)

measured: $(READY)  ## which instances of tests take long and are left to stress: writes tests/long.txt; a quarter of an hour
	$(BIN)/python -m pytest --measure

oldest:  ## the tests with the oldest version of everything that pyproject.toml allows, in an environment of its own
	$(PYTHON) -m venv --clear $(OLDEST)
	$(PYTHON) tests/oldest.py > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pip install --quiet --no-compile --constraint $(OLDEST)/constraints.txt --editable '.[dev]' --editable ./service --editable ./survey
	$(OLDEST)/bin/python -m pytest -n auto --dist worksteal

examples: $(READY)  ## what the examples in the pages print now, where that is something else: after a change of the catalogue
	$(BIN)/python docs/extensions/examples.py README.md CONTRIBUTING.md $$(find docs -name '*.md')

picture: $(READY)  ## the page as it looks in Chromium, for the README
	$(BIN)/python docs/picture.py

vectors: $(READY)  ## what clients in other languages must make of the same bytes, and the browser's client in one file
	$(BIN)/python -m headcount_service.vectors --out clients/js/vectors
	cd clients/js && npm ci && npm run build

format: $(READY)  ## style, and what is written from the catalogue: the table of docs/catalogue.md and the clients' vectors
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python docs/protocol_table.py
	$(BIN)/python -m headcount_service.vectors --out clients/js/vectors

constraints:  ## the versions and hashes of what a deployment installs, as the oldest supported Python resolves them
	$(PYTHON) deploy/constraints.py

tested: $(READY)  ## the versions that are installed in .venv, in constraints-dev.txt: after the tests have passed with them
	$(BIN)/python deploy/constraints.py --installed

sbom:  ## what a deployment consists of, as CycloneDX has it, in build/sbom.json: installed from the pins, and looked into
	mkdir -p $(dir $(SBOM))
	$(PYTHON) -m venv --clear $(DEPLOYED)
	$(DEPLOYED)/bin/python -m pip install --quiet --no-compile --require-hashes --requirement deploy/constraints.txt
	$(DEPLOYED)/bin/python -m pip install --quiet --no-compile --no-deps --no-build-isolation . ./service
	$(PYTHON) -m venv --clear $(PINS)
	$(PINS)/bin/python -m pip install --quiet --no-compile 'cyclonedx-bom>=7'
	$(PINS)/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --of JSON -o $(SBOM) $(DEPLOYED)

clean:
	rm -rf $(VENV) $(BENCH) $(OLDEST) $(PINS) figures build dist
