SHELL := /bin/bash
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: install ## Run the quickstart on loopback: HTTP, LLM and MCP through one gateway
	@exec node hack/quickstart/main.ts

# Exactly what the lock file says. Not `npm ci`: it refuses a lock file that was made where the registry has no packages for
# other platforms.
node_modules/.package-lock.json: package-lock.json
	npm install --no-save --ignore-scripts --no-audit --no-fund
	@touch $@

.PHONY: install
install: node_modules/.package-lock.json ## Install dependencies (only when the lock file changed)

.PHONY: generate
generate: install ## Write everything that is generated: types, validators, CRDs, reference pages
	hack/update-gateway-api.sh
	node codegen/main.ts

.PHONY: verify
verify: install ## Fail when a generated file is not what its source gives
	hack/update-gateway-api.sh
	node codegen/main.ts --verify

.PHONY: typecheck
typecheck: install
	tsc -p tsconfig.json && tsc -p codegen/tsconfig.json

.PHONY: lint
lint: install ## Lint, format check and type check
	oxlint --type-aware api operator deployer proxy cli codegen test bench hack
	oxfmt --check .
	$(MAKE) --no-print-directory typecheck

.PHONY: format
format: install ## Format all sources
	oxfmt .

.PHONY: test
test: install ## Run every test
	vitest run

.PHONY: build
build: install ## Bundle the command into dist/ (dist/gw.js)
	rm -rf dist
	rolldown --config rolldown.config.ts

.PHONY: bench
bench: install ## Compare with nginx and haproxy (needs wrk, nginx, haproxy); ARGS='--rounds 5' and others
	node bench/main.ts $(ARGS)

.PHONY: clean
clean: ## Remove what make made, dependencies included
	rm -rf node_modules codegen/node_modules .cache
