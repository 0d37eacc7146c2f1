#!/usr/bin/env bash
# Writes proxy/otlp/gen: messages of the OpenTelemetry protocol. The Go module of the protocol carries the descriptors
# of the official definitions; its checksum is compared with the one pinned here. Not part of `make generate`: the
# result is committed. With --verify, as in `make verify`: fails when the committed files differ.
set -euo pipefail

readonly module=go.opentelemetry.io/proto/otlp
readonly version=v1.3.1
readonly sum=h1:TrMUixzpM0yuc/znrFTP9MMRh8trP93mkCiDVeXrui0=

root=$(cd "$(dirname "$0")/.." && pwd)
export PATH=$root/node_modules/.bin:$PATH
source "$root/hack/publish-protos.sh"
mkdir -p "$root/.cache"
work=$(mktemp -d "$root/.cache/otlp-protos.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Outside any module of ours: only the named module is read.
answer=$(cd "$work" && GOFLAGS=-mod=mod go mod download -json "$module@$version")
field() { sed -n "s/^[[:space:]]*\"$1\": \"\(.*\)\",\{0,1\}\$/\1/p" <<<"$answer"; }
found=$(field Sum)
if [[ $found != "$sum" ]]; then
  echo "hack/update-otlp-protos.sh: $module@$version has checksum $found, expected $sum" >&2
  exit 1
fi
node "$root/hack/otlp-descriptors.ts" "$(field Dir)" "$work/image.binpb"

cat >"$work/buf.gen.yaml" <<'YAML'
version: v2
plugins:
  - local: protoc-gen-es
    out: out
    include_imports: true
    opt: [target=ts, import_extension=ts, erasable_syntax=true, elide_plugin_version=true]
inputs:
  - binary_image: image.binpb
    types:
      - opentelemetry.proto.collector.trace.v1.TraceService
      - opentelemetry.proto.collector.logs.v1.LogsService
YAML
(cd "$work" && buf generate)

publish_protos "$work" "$root/proxy/otlp/gen" "OpenTelemetry" "$@"
