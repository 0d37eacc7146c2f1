#!/usr/bin/env bash
# `make mesh`: the proxy with the certificate authority, the HBONE server and the HBONE client of Istio. Builds these peers
# from the Go module proxy when they are missing in .cache/mesh (up to 20 minutes on two cores), then runs the tests. No cluster
# is needed.
set -euo pipefail
cd "$(dirname "$0")/../.."

cache=$PWD/.cache/mesh
export CGO_ENABLED=0 GOFLAGS='-trimpath -buildvcs=false' GOWORK=off GOTOOLCHAIN=local
key=$(cat test/mesh/peer/* | sha256sum)
if [[ ! -x $cache/peer || $(cat "$cache/key" 2>/dev/null) != "$key" ]]; then
	mkdir -p "$cache"
	(cd test/mesh/peer && go build -ldflags '-s -w' -o "$cache/peer" .)
	echo "$key" >"$cache/key"
fi
GW_MESH_PEER=$cache/peer node_modules/.bin/vitest run --config test/mesh/vitest.config.ts "$@"
