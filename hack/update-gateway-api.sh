#!/usr/bin/env bash
# Puts the CRD files of the pinned Gateway API module into .cache/gateway-api. They are data for `make generate`, never
# committed. The Go module proxy delivers them; the module's checksum is compared with the one pinned here.
set -euo pipefail

readonly module=sigs.k8s.io/gateway-api
readonly version=v1.6.3
readonly sum=h1:lKpJa5bGlraC/QeACvCpsHLdmO6y0iKfzVl6gzaFEYc=

root=$(cd "$(dirname "$0")/.." && pwd)
target=$root/.cache/gateway-api
stamp="$module@$version $sum"

if [[ -f $target/STAMP && $(<"$target/STAMP") == "$stamp" ]]; then
  exit 0
fi

if ! command -v go >/dev/null; then
  echo "hack/update-gateway-api.sh: go is missing. It downloads $module@$version from the Go module proxy: install Go" >&2
  exit 1
fi

mkdir -p "$root/.cache"
work=$(mktemp -d "$root/.cache/gateway-api.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Outside any module of ours: only the named module is read.
field() { sed -n "s/^[[:space:]]*\"$1\": \"\(.*\)\",\{0,1\}\$/\1/p" <<<"$answer"; }
if ! answer=$(cd "$work" && GOFLAGS=-mod=mod go mod download -json "$module@$version"); then
  echo "hack/update-gateway-api.sh: cannot download $module@$version: $(field Error)" >&2
  echo "Check the network and GOPROXY ($(go env GOPROXY))" >&2
  exit 1
fi

found=$(field Sum)
if [[ $found != "$sum" ]]; then
  echo "hack/update-gateway-api.sh: $module@$version has checksum $found, expected $sum" >&2
  exit 1
fi

crds=$(field Dir)/config/crd
for channel in standard experimental; do
  mkdir -p "$work/new/$channel"
  install -m 0644 "$crds/$channel"/gateway.networking*.yaml "$work/new/$channel/"
done
echo "$stamp" >"$work/new/STAMP"
rm -rf "$target"
mv "$work/new" "$target"
echo "Gateway API $version is in .cache/gateway-api" >&2
