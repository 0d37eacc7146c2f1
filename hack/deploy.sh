#!/usr/bin/env bash
# Puts the controller into the cluster that kubectl talks to, or takes everything of Gw away again.
#   deploy.sh up        CRDs, then config/default; waits until the controller is ready
#   deploy.sh manifest  prints what `up` applies, without the CRDs of the Gateway API
#   deploy.sh down      refuses while Gateways of Gw or objects of its kinds exist; FORCE=1 deletes them, too
# IMAGE_REGISTRY and IMAGE_TAG name the images of controller and proxy (make images takes the same).
set -euo pipefail
cd "$(dirname "$0")/.."
kubectl=${KUBECTL:-kubectl}
registry=${IMAGE_REGISTRY:-}
tag=${IMAGE_TAG:-}

# A kustomization over config/default with the images that were asked for.
overlay() {
	rm -rf .cache/deploy
	mkdir -p .cache/deploy
	{
		printf 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [../../config/default]\n'
		[[ -z $registry$tag ]] && return
		printf 'images:\n- name: gw.dev/gw-controller\n'
		[[ -z $registry ]] || printf '  newName: %s/gw-controller\n' "$registry"
		[[ -z $tag ]] || printf '  newTag: %s\n' "$tag"
		printf 'patches:\n- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n'
		printf '    metadata: {name: gw-controller, namespace: gw-system}\n'
		printf '    spec:\n      template:\n        spec:\n          containers:\n          - name: controller\n            env:\n'
		[[ -z $registry ]] || variable GW_PROXY_IMAGE_REGISTRY "$registry"
		[[ -z $tag ]] || variable GW_PROXY_IMAGE_TAG "$tag"
	} >.cache/deploy/kustomization.yaml
}
variable() {
	printf '            - {name: %s, value: "%s"}\n' "$1" "$2"
}

up() {
	hack/install-crds.sh
	overlay
	"$kubectl" apply --server-side --force-conflicts -k .cache/deploy
	"$kubectl" -n gw-system rollout status deployment/gw-controller --timeout 180s
}

exists() { "$kubectl" get crd "$1" -o name >/dev/null 2>&1; }

# Lines "KIND NAMESPACE NAME" of what users made: Gateways of our classes and objects of our kinds.
in_use() {
	if exists gateways.gateway.networking.k8s.io; then
		local classes
		classes=$("$kubectl" get gatewayclasses -o jsonpath='{range .items[?(@.spec.controllerName=="gw.dev/controller")]}{.metadata.name}{"\n"}{end}')
		"$kubectl" get gateways -A -o jsonpath='{range .items[*]}{.spec.gatewayClassName}{" gateway "}{.metadata.namespace}{" "}{.metadata.name}{"\n"}{end}' |
			while read -r class line; do grep -qx "$class" <<<"$classes" && echo "$line"; done || true
	fi
	for kind in gwbackends gwmodels gwparameters gwpolicies; do
		exists "$kind.gw.dev" || continue
		"$kubectl" get "$kind.gw.dev" -A -o jsonpath='{range .items[*]}{.kind}{" "}{.metadata.namespace}{" "}{.metadata.name}{"\n"}{end}'
	done
}

down() {
	local used
	used=$(in_use)
	if [[ -n $used && ${FORCE:-} != 1 ]]; then
		echo "still there, and deleted by FORCE=1 make undeploy:" >&2
		echo "$used" >&2
		exit 1
	fi
	# Proxies go with their Gateways; wait for them while the owner is still known.
	while read -r kind namespace name; do
		[[ -z $kind ]] || "$kubectl" delete "$kind" -n "$namespace" "$name" --ignore-not-found --cascade=foreground --timeout 120s
	done <<<"$used"
	# First the controller: while it runs it creates its class again.
	"$kubectl" delete deployment -n gw-system gw-controller --ignore-not-found --cascade=foreground --timeout 120s
	# Those of config/overlays/namespaced and network-policy, and of copies of them; a release of Helm keeps its own.
	"$kubectl" delete rolebindings,networkpolicies -A -l 'app.kubernetes.io/name=gw-controller,app.kubernetes.io/managed-by!=Helm' --ignore-not-found
	"$kubectl" kustomize config/default | "$kubectl" delete -f - --ignore-not-found --timeout 180s 2> >(grep -v 'no matches for kind' >&2)
}

manifest() {
	overlay
	"$kubectl" kustomize .cache/deploy
}

case ${1:-} in
up) up ;;
manifest) manifest ;;
down) down ;;
*)
	echo "usage: deploy.sh up|manifest|down" >&2
	exit 2
	;;
esac
