#!/usr/bin/env bash
# Installs the kinds of the Gateway API and of Gw in the cluster that kubectl talks to. Safe to repeat: what is stored stays.
#   GATEWAY_API=auto   (default) the Gateway API is installed where it is missing; another version or channel is left alone
#   GATEWAY_API=apply  the pinned version is applied over what is there
#   GATEWAY_API=skip   only the kinds of Gw
#   GW_CRDS=skip       only the kinds of the Gateway API: those of Gw come with the chart gw-crds (default: apply)
#   GATEWAY_API_CHANNEL=standard (default) or experimental
set -euo pipefail
cd "$(dirname "$0")/.."
kubectl=${KUBECTL:-kubectl}
channel=${GATEWAY_API_CHANNEL:-standard}
apply=("$kubectl" apply --server-side --force-conflicts)

# Prints version/channel of the Gateway API in the cluster, or nothing.
installed() {
	"$kubectl" get crd gateways.gateway.networking.k8s.io --ignore-not-found \
		-o 'jsonpath={.metadata.annotations.gateway\.networking\.k8s\.io/bundle-version}/{.metadata.annotations.gateway\.networking\.k8s\.io/channel}'
}

gateway_api() {
	hack/update-gateway-api.sh
	for file in .cache/gateway-api/"$channel"/*.yaml; do "${apply[@]}" -f "$file"; done
}

case ${GW_CRDS:-apply} in
apply | skip) ;;
*)
	echo "GW_CRDS is apply or skip" >&2
	exit 2
	;;
esac
found=$(installed)
case ${GATEWAY_API:-auto} in
skip) ;;
apply) gateway_api ;;
auto)
	if [[ -z $found ]]; then
		gateway_api
	else
		echo "Gateway API $found is in the cluster and stays as it is (GATEWAY_API=apply replaces it)"
	fi
	;;
*)
	echo "GATEWAY_API is auto, apply or skip" >&2
	exit 2
	;;
esac
[[ ${GW_CRDS:-apply} == skip ]] || "${apply[@]}" -k config/crd
crds=$("$kubectl" get crd -o name | grep -E '\.(gateway\.networking\.k8s\.io|gw\.dev)$' || true)
# shellcheck disable=SC2086
[[ -z $crds ]] || "$kubectl" wait --for=condition=Established --timeout 60s $crds >/dev/null
