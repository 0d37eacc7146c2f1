#!/usr/bin/env bash
# Completes the charts of config/helm. Helm reads only files inside the folder of a chart and warns about links, so the CRDs,
# the rules of roles and the dashboard are copied from their one place in config. The copies are never committed. Safe to
# repeat, and to run twice at the same time.
set -euo pipefail
cd "$(dirname "$0")/.."

# put TARGET FILE...: TARGET is a folder of config/helm that has these files and no others.
put() {
	local target=config/helm/$1 file name
	shift
	mkdir -p "$target"
	for file in "$target"/*; do
		name=$(basename "$file")
		if [[ -f $file && " ${*##*/} " != *" $name "* ]]; then rm -f "$file"; fi
	done
	for file in "$@"; do
		name=$(basename "$file")
		if cmp -s "$file" "$target/$name"; then continue; fi
		cp "$file" "$target/.$name.$$"
		mv -f "$target/.$name.$$" "$target/$name"
	done
}

put gw-crds/files/crd config/crd/*.yaml
put gw/files/rbac config/rbac/cluster-role.yaml config/rbac/cluster-scope-role.yaml config/rbac/role.yaml
put gw/files/grafana config/grafana/gw-proxy.json
put gw/files/inference config/components/inference/rules.yaml
# The chart that gw depends on, where Helm looks for it.
kinds=config/helm/gw-crds
put gw/charts/gw-crds "$kinds/Chart.yaml" "$kinds/values.yaml" "$kinds/values.schema.json"
put gw/charts/gw-crds/templates "$kinds/templates/crds.yaml"
put gw/charts/gw-crds/files/crd config/crd/*.yaml
