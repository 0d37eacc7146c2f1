#!/usr/bin/env bash
# Prints the path of helm: the one on PATH, else one built into .cache/tools from its Go module (pinned, checksums by the
# public database or the ones of the proxy).
set -euo pipefail
cd "$(dirname "$0")/.."
readonly version=v3.19.0
# Of Kubernetes, as this version of helm has it in its releases: without it `helm template` assumes 1.20.
readonly minor=34
if command -v helm; then exit 0; fi
tools=$PWD/.cache/tools
if [[ ! -x $tools/helm-$version-k8s$minor ]]; then
	mkdir -p "$tools"
	GOBIN=$tools CGO_ENABLED=0 go install -trimpath -ldflags "-s -w
		-X helm.sh/helm/v3/internal/version.version=$version
		-X helm.sh/helm/v3/pkg/lint/rules.k8sVersionMajor=1 -X helm.sh/helm/v3/pkg/lint/rules.k8sVersionMinor=$minor
		-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1 -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=$minor" "helm.sh/helm/v3/cmd/helm@$version" >&2
	mv "$tools/helm" "$tools/helm-$version-k8s$minor"
fi
echo "$tools/helm-$version-k8s$minor"
