#!/usr/bin/env bash
# Writes deployer/strategicmerge/merge-keys.gen.ts: merge keys and patch strategies of the kinds the deployer makes, from
# the OpenAPI of a real API server. With --verify: fails when the committed file differs. GW_APISERVER names the script
# that starts the server ("up" prints KUBECONFIG, "down" ends it), GW_APISERVER_PORT its port.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
export PATH=$root/node_modules/.bin:$PATH
script=${GW_APISERVER:-$root/../shared/cluster/apiserver}
export GW_APISERVER_PORT=${GW_APISERVER_PORT:-26443}
if [[ ! -x $script ]]; then
  echo 'hack/update-merge-keys.sh: set GW_APISERVER to a script that knows "up" and "down"' >&2
  exit 2
fi

mkdir -p "$root/.cache"
work=$(mktemp -d "$root/.cache/merge-keys.XXXXXX")
trap '"$script" down; rm -rf "$work"' EXIT
eval "$("$script" up)"
kubectl get --raw /openapi/v2 >"$work/openapi.json"
node "$root/hack/update-merge-keys.ts" "$work/openapi.json" "$@"
