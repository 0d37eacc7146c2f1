#!/usr/bin/env bash
# Writes proxy/envoy/gen: messages of the Envoy services the proxy calls. The definitions come from the package
# @grpc/grpc-js-xds (nothing is downloaded); only the types those services reach are generated. Not part of `make
# generate`: the result is committed. With --verify, as in `make verify`: fails when the committed files differ.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
export PATH=$root/node_modules/.bin:$PATH
source "$root/hack/publish-protos.sh"
readonly deps=$root/node_modules/@grpc/grpc-js-xds/deps
readonly services=(
  envoy/service/auth/v3/external_auth.proto
  envoy/service/ratelimit/v3/rls.proto
  envoy/service/ext_proc/v3/external_processor.proto
)
readonly added=(hits_addend FULL_DUPLEX_STREAMED protocol_config streamed_response)

mkdir -p "$root/.cache"
work=$(mktemp -d "$root/.cache/envoy-protos.XXXXXX")
trap 'rm -rf "$work"' EXIT

# The files the services import, and what those import.
queue=("${services[@]}")
while ((${#queue[@]} > 0)); do
  file=${queue[0]}
  queue=("${queue[@]:1}")
  if [[ -f $work/src/$file || $file == google/protobuf/* ]]; then continue; fi
  for place in "$deps"/*/; do
    [[ -f $place$file ]] || continue
    mkdir -p "$(dirname "$work/src/$file")"
    tr -d '\r' <"$place$file" | sed -f "$root/hack/envoy-protos.sed" >"$work/src/$file"
  done
  mapfile -t imports < <(sed -n 's/^import "\(.*\)";.*/\1/p' "$work/src/$file")
  queue+=("${imports[@]}")
done
for name in "${added[@]}"; do
  grep -rqE "^ +[A-Za-z0-9_.]* ?$name = [0-9]+;" "$work/src/envoy" || {
    echo "hack/update-envoy-protos.sh: hack/envoy-protos.sed did not add $name" >&2
    exit 1
  }
done

cat >"$work/buf.yaml" <<'YAML'
version: v2
modules:
  - path: src
YAML
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
      - envoy.service.auth.v3.Authorization
      - envoy.service.ratelimit.v3.RateLimitService
      - envoy.service.ext_proc.v3.ExternalProcessor
    # Options for validators, which the proxy does not use.
    exclude_types: [validate, udpa.annotations, xds.annotations.v3, envoy.annotations]
YAML
(cd "$work" && buf build --exclude-source-info -o image.binpb && buf generate)

publish_protos "$work" "$root/proxy/envoy/gen" "the Envoy API" "$@"
