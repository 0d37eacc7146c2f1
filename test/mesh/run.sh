#!/usr/bin/env bash
# `make mesh`: the proxy with the certificate authority, the HBONE server and the HBONE client of Istio, and proxy and
# controller with its control plane, istiod. Builds these peers from the Go module proxy when they are missing in
# .cache/mesh (up to 20 minutes on two cores), then runs the tests. The test with istiod starts an API server without
# nodes (GW_APISERVER).
set -euo pipefail
cd "$(dirname "$0")/../.."

cache=$PWD/.cache/mesh
export CGO_ENABLED=0 GOFLAGS='-trimpath -buildvcs=false' GOWORK=off GOTOOLCHAIN=local
key=$(find test/mesh/peer -type f | sort | xargs sha256sum | sha256sum)
if [[ ! -x $cache/peer || ! -x $cache/istiod || $(cat "$cache/key" 2>/dev/null) != "$key" ]]; then
	mkdir -p "$cache"
	(
		cd test/mesh/peer
		go build -ldflags '-s -w' -o "$cache/peer" .
		go build -ldflags '-s -w' -o "$cache/istiod" ./istiod
	)
	echo "$key" >"$cache/key"
fi
export GW_MESH_PEER=$cache/peer GW_MESH_ISTIOD=$cache/istiod
node_modules/.bin/vitest run --config test/mesh/vitest.config.ts "$@"
