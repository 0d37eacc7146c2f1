#!/usr/bin/env bash
# Writes proxy/mesh/gen: messages of the certificate service of Istio. The Go module of the API carries the protocol
# file; its checksum is compared with the one pinned here. Not part of `make generate`: the result is committed. With
# --verify, as in `make verify`: fails when the committed files differ.
set -euo pipefail

readonly module=istio.io/api
readonly version=v1.27.0
readonly sum=h1:KU1DeyIvZkY2k0pF9ZY+6D0ZVB1ZgvimaPkM55NVRWk=
readonly proto=security/v1alpha1/ca.proto

root=$(cd "$(dirname "$0")/.." && pwd)
export PATH=$root/node_modules/.bin:$PATH
source "$root/hack/publish-protos.sh"
mkdir -p "$root/.cache"
work=$(mktemp -d "$root/.cache/istio-protos.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Outside any module of ours: only the named module is read.
answer=$(cd "$work" && GOFLAGS=-mod=mod go mod download -json "$module@$version")
field() { sed -n "s/^[[:space:]]*\"$1\": \"\(.*\)\",\{0,1\}\$/\1/p" <<<"$answer"; }
found=$(field Sum)
if [[ $found != "$sum" ]]; then
  echo "hack/update-istio-protos.sh: $module@$version has checksum $found, expected $sum" >&2
  exit 1
fi
mkdir -p "$work/protos/$(dirname "$proto")"
cp "$(field Dir)/$proto" "$work/protos/$proto"

cat >"$work/buf.gen.yaml" <<'YAML'
version: v2
plugins:
  - local: protoc-gen-es
    out: out
    opt: [target=ts, import_extension=ts, erasable_syntax=true, elide_plugin_version=true]
inputs:
  - directory: protos
YAML
(cd "$work" && buf generate)

publish_protos "$work" "$root/proxy/mesh/gen" "Istio" "$@"
