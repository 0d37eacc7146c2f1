SHELL := /bin/bash
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

node_modules/.package-lock.json: package-lock.json
	npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

.PHONY: install
install: node_modules/.package-lock.json ## Install dependencies (only when the lock file changed)

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
