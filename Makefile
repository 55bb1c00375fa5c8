# Every daily task in one word; `make` lists them. Paths are relative on purpose: the folder may have any name.
.DEFAULT_GOAL := help
SHELL := /bin/sh
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-print-directory
# Where a machine forbids it, each of the hundreds of processes of a test run would compile all our modules again.
unexport PYTHONDONTWRITEBYTECODE
.PHONY: help hooks run web audit replay test coverage test-web test-browser lint protos proto-lint lock logs compliance rng-report test-api test-websocket clean-data bench-wallet bench-table bench-edge bench-games bench-poker bench-tournament poker-hands ci environment test-containers images compose-secrets kubernetes-secrets test-cluster test-manifests test-monitoring drill test-scale

IN := .venv/bin/python
# The first Python new enough (asked by running it: version managers leave names on PATH that do not run).
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$name -c '$(NEW_ENOUGH)' >/dev/null 2>&1 && { command -v $$name; break; }; done)

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' Makefile

run: protos ## start the whole platform here; Ctrl-C stops it
	@$(IN) -m tools.web --optional
	@$(IN) -m stack.commands.run

web: protos ## build the front-end (build/web), when its sources changed
	@$(IN) -m tools.web

test: protos ## every test that needs no container engine and no browser
	@$(IN) -m pytest -n 4 --durations=20 $(ARGS)

coverage: protos ## `make test`, and which lines of the engines, the ledger and the table runtime it does not run
	@$(MAKE) test ARGS='--cov $(ARGS)'

test-web: protos ## the front-end: types, style and its own tests
	@$(IN) -m tools.web --check

test-browser: protos ## the platform as players see it, in Chromium
	@$(IN) -m tools.browser_tests $(ARGS)

test-manifests: protos ## the Kubernetes manifests: schemas, weaknesses, settings, paths of the network; no cluster needed
	@$(IN) -m pytest -n 2 tests/manifests $(ARGS)

test-monitoring: protos ## alerts and dashboards: checked by promtool, every query run against a live scrape (Prometheus, or Debian's package of it)
	@$(IN) -m pytest tests/monitoring $(ARGS)

test-cluster: protos ## the platform on Kubernetes: the cluster that KUBECONFIG names, or one of one node made here (root on Debian)
	@$(IN) -m tests.cluster.run $(ARGS)

kubernetes-secrets: protos ## print the Secrets that k8s/ names: `ARGS="--overlay dev --tables stack/tables"`
	@$(IN) -m tools.kubernetes.secrets $(ARGS)

drill: protos ## hurt the platform by a seeded schedule under play, then check every record (docs/drills.md)
	@$(IN) -m tests.drill $(ARGS)

test-scale: protos ## a tournament of a thousand bots whose owner is killed again and again, and every record of it checked
	@$(IN) -m tests.scale $(ARGS)

lint: protos ## style, format, types, which room may import which, and the Dockerfile
	@$(IN) -m ruff check
	@$(IN) -m ruff format --check
	@$(IN) -m mypy
	@.venv/bin/lint-imports --no-cache
	@.venv/bin/hadolint Dockerfile

hooks: environment ## install the checks of a commit into git (pre-commit)
	@.venv/bin/pre-commit install

protos: environment ## Python code from protos/ (build/gen), when they changed
	@$(IN) hatch_build.py

proto-lint: protos ## the contracts: style, and nothing a deployed client relies on is broken
	@$(IN) -m tools.proto_lint

lock: environment ## choose versions anew: locks/*.txt, hashes and no addresses
	@$(IN) -m tools.lock $(ARGS)

logs: environment ## follow the logs of every process
	@$(IN) -m stack.commands.logs

audit: protos ## check the ledger of the platform that runs here (`feltro audit`)
	@$(IN) -m stack.commands.audit $(ARGS)

replay: protos ## compute a round again here: `ARGS="--game <game> <round>"`, or `--all` (`feltro replay`)
	@$(IN) -m stack.commands.replay $(ARGS)

compliance: protos ## which test proves which rule, the screen's by the last test-browser (docs/compliance.md)
	@$(IN) -m tools.compliance --merge build/browser-rules.json $(ARGS)

clean-data: environment ## empty the data folder
	@$(IN) -m stack.commands.clean

test-websocket: protos ## the WebSocket against the cases of the Autobahn testsuite
	@$(IN) -m tests.websocket.run $(ARGS)

test-api: protos ## schemathesis against the OpenAPI document of a running gateway
	@$(IN) -m tests.api.run $(ARGS)

bench-wallet: protos ## measure the ledger against pgbench on the same PostgreSQL
	@$(IN) -m tests.bench.wallet $(ARGS)

bench-table: protos ## measure live tables with bots against the ledger alone
	@$(IN) -m tests.bench.table $(ARGS)

bench-edge: protos ## measure fan-out and bets over the gateway against the least that they could cost
	@$(IN) -m tests.bench.edge $(ARGS)

bench-games: protos ## measure each game's engine, live tables and memory, and one decision over the gateway
	@$(IN) -m tests.bench.games $(ARGS)

bench-poker: protos ## measure poker: evaluator and engine against PyPI's, longest bursts, live tables, and one decision over the gateway
	@$(IN) -m tests.bench.poker $(ARGS)

bench-tournament: protos ## measure tables of a tournament against those for money, and a director against its bare writes
	@$(IN) -m tests.bench.tournament $(ARGS)

poker-hands: protos ## count every hand of seven cards with the evaluator of poker, one by one (minutes)
	@$(IN) -m tests.engine.poker.evaluation.frequencies

rng-report: protos ## statistical tests of the randomness (build/rng-report.md)
	@$(IN) -m tools.rng_report $(ARGS)

images: environment ## build the images of the services (docs/containers.md)
	@$(IN) -m tools.images $(ARGS)

compose-secrets: environment ## make what the containers of compose.yaml have to know (.feltro/compose), once
	@$(IN) -m stack.commands.container_secrets

test-containers: protos ## the images on a container engine: play, faults of every container, compose.yaml
	@$(IN) -m tools.container_tests $(ARGS)

ci: ## what the continuous integration runs
	@.ci/run

environment:
	@$(if $(PYTHON),,$(error Feltro needs Python 3.11 or newer, and there is none on PATH ($(shell python3 --version 2>&1)). Install one, or name it: make PYTHON=/path/to/python3.12))"$(PYTHON)" tools/venv.py
