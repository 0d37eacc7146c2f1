#!/usr/bin/env bash
# `make mesh`: the proxy with the certificate authority, the HBONE server and the HBONE client of Istio, and proxy and
# controller with its control plane, istiod: first as processes of this machine (istiod with an API server without nodes,
# GW_APISERVER), then as Pods of a cluster (cluster/mesh.test.ts). Builds these programs from the Go module proxy if they
# are missing in .cache/mesh (up to 20 minutes on two cores).
#   run.sh [FILTER...]    only test files whose paths contain a filter, such as cluster or istio.test
set -euo pipefail
cd "$(dirname "$0")/../.."

cache=$PWD/.cache/mesh
export CGO_ENABLED=0 GOFLAGS='-trimpath -buildvcs=false' GOWORK=off GOTOOLCHAIN=local
key=$(find test/mesh/peer -type f | sort | xargs sha256sum | sha256sum)
programs=(peer istiod workload)
if [[ $(ls "${programs[@]/#/$cache/}" 2>/dev/null | wc -l) != "${#programs[@]}" || $(cat "$cache/key" 2>/dev/null) != "$key" ]]; then
	mkdir -p "$cache"
	(
		cd test/mesh/peer
		go build -ldflags '-s -w' -o "$cache/peer" .
		go build -ldflags '-s -w' -o "$cache/istiod" ./istiod
		go build -ldflags '-s -w' -o "$cache/workload" ./workload
	)
	echo "$key" >"$cache/key"
fi
export GW_MESH_PEER=$cache/peer GW_MESH_ISTIOD=$cache/istiod GW_MESH_WORKLOAD=$cache/workload
node_modules/.bin/vitest run --config test/mesh/vitest.config.ts "$@"
