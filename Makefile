SHELL := /bin/bash
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
.DEFAULT_GOAL := help
VERSION = $(shell sed -n 's/^  "version": "\(.*\)",$$/\1/p' package.json)

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: install ui ## Run the quickstart on loopback: HTTP, LLM and MCP through one gateway
	@exec node hack/quickstart/main.ts

# Exactly what the lock file says. Not `npm ci`: it refuses a lock file that was made where the registry has no packages for
# other platforms. Warnings about the Node of the machine mean nothing: ours comes with the packages.
node_modules/.package-lock.json: package-lock.json
	npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

.PHONY: install
install: node_modules/.package-lock.json ## Install dependencies (only when the lock file changed)

dist/ui/index.html: hack/ui.ts package-lock.json $(shell find ui -type f)
	node hack/ui.ts
	@touch $@

.PHONY: ui
ui: install dist/ui/index.html ## Bundle the web UI for gw run in this clone; make run and make build do it too

.PHONY: generate
generate: install ## Write everything that is generated: types, validators, CRDs, reference pages
	hack/update-gateway-api.sh
	node codegen/main.ts
	node hack/update-standalone-schema.ts
	node hack/update-man-page.ts

.PHONY: verify
verify: install ## Fail when a generated file is not what its source gives
	hack/update-gateway-api.sh
	node codegen/main.ts --verify
	hack/update-envoy-protos.sh --verify
	hack/update-otlp-protos.sh --verify
	hack/update-istio-protos.sh --verify
	hack/update-mcp-protos.sh --verify

.PHONY: typecheck
typecheck: install
	tsc -p tsconfig.json && tsc -p codegen/tsconfig.json && tsc -p ui/tsconfig.json

.PHONY: lint
lint: install ## Lint, format check and type check
	oxlint --type-aware api operator deployer proxy cli codegen test bench hack ui site/.vitepress/pages.ts site/.vitepress/files.ts
	oxfmt --check .
	$(MAKE) --no-print-directory typecheck

.PHONY: format
format: install ## Format all sources
	oxfmt .

.PHONY: test
test: install ## Run units, properties and sockets, and one case of each feature
	vitest run --tags-filter='!full'

.PHONY: test-full
test-full: install ## Run every test, random ones at full length
	TESTS=full vitest run

.PHONY: build
build: install ## Bundle the command into dist/ (dist/gw.js)
	rm -rf dist
	rolldown --config rolldown.config.ts

.PHONY: pictures
pictures: install ## Draw the pictures of docs/ui.md again (needs Chromium); ARGS='chat overview' draws these only
	node test/ui/pictures.ts $(ARGS)

.PHONY: docs
docs: ## Build the documentation as a site in site/dist, with checked links and a search; its tools are installed in site
	cd site && npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error && npx --no-install vitepress build .

.PHONY: docs-check
docs-check: install ## Open each page of the site of make docs in Chromium: sidebar, diagrams, search, no other servers
	node test/docs-site/main.ts

.PHONY: images
images: build ## Build the images of controller and proxy from scratch; IMAGE_REGISTRY, IMAGE_TAG name them
	node hack/image/main.ts $(if $(IMAGE_REGISTRY),--registry $(IMAGE_REGISTRY)) $(if $(IMAGE_TAG),--tag $(IMAGE_TAG)) $(ARGS)

.PHONY: release
release: install ## Make all artifacts of a version in dist/release, and print how to publish them; ARGS='--key FILE' signs
	rm -rf dist
	rolldown --config rolldown.config.ts >/dev/null
	node hack/release/main.ts $(if $(IMAGE_REGISTRY),--registry $(IMAGE_REGISTRY)) $(ARGS)

.PHONY: charts
charts: ## Complete the charts of config/helm, which share files with config; needed before helm, and after a change
	hack/charts.sh

.PHONY: kind-up
kind-up: ## Start a cluster on this machine; prints the line for the shell
	@hack/kind.sh up

.PHONY: kind-down
kind-down: ## Remove the cluster of kind-up
	hack/kind.sh down

.PHONY: kind-load
kind-load: ## Build the images, with the demo upstreams, and load them into the cluster of kind-up
	$(MAKE) --no-print-directory images ARGS=--demo
	hack/kind.sh load $(foreach image,gw-controller gw gw-demo,$(or $(IMAGE_REGISTRY),gw.dev)/$(image):$(or $(IMAGE_TAG),v$(VERSION)))

.PHONY: install-crds
install-crds: ## Install the kinds of Gw, and of the Gateway API where missing, in the cluster of kubectl
	hack/install-crds.sh

.PHONY: deploy
deploy: ## Install the kinds and the controller in the cluster of kubectl; IMAGE_REGISTRY, IMAGE_TAG name the images
	IMAGE_REGISTRY='$(IMAGE_REGISTRY)' IMAGE_TAG='$(IMAGE_TAG)' hack/deploy.sh up

.PHONY: undeploy
undeploy: ## Remove everything of Gw from the cluster of kubectl; FORCE=1 also where Gateways use it
	FORCE='$(FORCE)' hack/deploy.sh down

.PHONY: e2e
e2e: install ## Test in a real cluster: that of KUBECONFIG, or one that lives as long; ARGS are those of vitest
	vitest run --config test/e2e/vitest.config.ts $(ARGS)

.PHONY: pages
pages: install ## Run the commands of pages about a cluster as they stand there, in that of kind-up; removes it at the end
	vitest run --config test/pages/cluster/vitest.config.ts $(ARGS)

.PHONY: conformance
conformance: install ## Run the conformance suite of the Gateway API in that cluster; ARGS are flags of the suite
	test/gateway-conformance/run.sh $(ARGS)

.PHONY: mcp-conformance
mcp-conformance: install ## Run the conformance suite of MCP through the gateway; writes docs/mcp/conformance.md
	node test/mcp-conformance/main.ts

.PHONY: mcp-soak
mcp-soak: install ## Load the gateway with MCP clients that abandon streams; fails if it grows; ARGS='--minutes 15'
	node test/mcp/soak.ts $(ARGS)

.PHONY: mcp-replicas
mcp-replicas: install ## Kill each of three replicas under MCP sessions; ARGS='--sessions 1000'
	node test/mcp/replicas.ts $(ARGS)

.PHONY: mcp-memory
mcp-memory: install ## Measure the memory of MCP sessions with open streams; ARGS='--sessions 1000'
	node test/mcp/memory.ts $(ARGS)

.PHONY: mesh
mesh: install ## Test with the certificate authority and the tunnels of Istio (needs Go); ARGS are those of vitest
	test/mesh/run.sh $(ARGS)

.PHONY: agents
agents: install ## Run Claude Code and Codex with the gateway, as docs/llm/coding-agents.md shows; installs them in .cache/agents
	test/agents/run.sh $(ARGS)

.PHONY: bench
bench: build ## Compare with nginx and haproxy (needs wrk, nginx, haproxy); ARGS='--rounds 5' and others
	node bench/main.ts $(ARGS)

.PHONY: bench-footprint
bench-footprint: build ## Measure start and memory of one worker (needs wrk); ARGS='--starts 5 --seconds 8 --routes 5000'
	node bench/footprint.ts $(ARGS)

.PHONY: bench-control
bench-control: build ## Measure the control plane with a real API server (GW_APISERVER); ARGS='--routes 1000 --changes 50'
	node bench/control/main.ts $(ARGS)

.PHONY: clean
clean: ## Remove what make made, dependencies included
	rm -rf node_modules codegen/node_modules .cache
