#!/usr/bin/env bash
# Writes proxy/mcp/guardrails/gen: messages of the guardrail services of MCP, from api/mcp/protos. Not part of `make
# generate`: the result is committed. With --verify, as in `make verify`: fails when the committed files differ.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
export PATH=$root/node_modules/.bin:$PATH
source "$root/hack/publish-protos.sh"
mkdir -p "$root/.cache"
work=$(mktemp -d "$root/.cache/mcp-protos.XXXXXX")
trap 'rm -rf "$work"' EXIT

cp -r "$root/api/mcp/protos" "$work/protos"
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

publish_protos "$work" "$root/proxy/mcp/guardrails/gen" "api/mcp/protos" "$@"
