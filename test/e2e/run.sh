#!/usr/bin/env bash
# `make e2e`: builds the images, puts them into a cluster, deploys, and runs test/e2e against it.
#   run.sh [ARGS of vitest]       names of files choose some: run.sh traffic
# The cluster is that of KUBECONFIG, else the one of `make kind-up`, which is started where it is missing and stays.
# Plain kind needs GW_KIND_NODE_IMAGE only where its default image cannot be pulled. A cluster that is not of kind needs
# the images in IMAGE_REGISTRY. Skipped, with a line, where nothing can run a cluster.
set -euo pipefail
cd "$(dirname "$0")/../.."
source test/e2e/cluster.sh
use_cluster e2e
deploy_build
# What the tests say about images, and which programs they may use.
export GW_E2E_REGISTRY=${IMAGE_REGISTRY:-gw.dev} GW_E2E_TAG=${IMAGE_TAG:-} GW_E2E_CLUSTER=$cluster
exec vitest run --config test/e2e/vitest.config.ts "$@"
