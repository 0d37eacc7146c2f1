#!/usr/bin/env bash
# A cluster on this machine for tests and trials.
#   kind.sh up      the one of ../shared/cluster where that is there (nothing is pulled), else plain kind
#   kind.sh down    removes it
#   kind.sh load    loads the images given as further arguments
#   kind.sh env     prints KUBECONFIG and PATH for the shell; fails where there is no cluster
# GW_CLUSTER_SCRIPTS: folder with up and down (default ../shared/cluster). GW_KIND_NODE_IMAGE: node image for plain kind.
# GW_CLUSTER_NAME: name of the cluster (default gw). GW_CLUSTER_WORKERS: number of workers (default 2).
# GW_KIND_STATE: folder for the kubeconfig of plain kind (default .cache/kind).
set -euo pipefail
cd "$(dirname "$0")/.."
scripts=${GW_CLUSTER_SCRIPTS:-../shared/cluster}
name=${GW_CLUSTER_NAME:-gw}
workers=${GW_CLUSTER_WORKERS:-2}
state=${GW_KIND_STATE:-$PWD/.cache/kind}

plain_up() {
	command -v kind >/dev/null || { echo "neither $scripts/up nor kind is here" >&2; exit 3; }
	mkdir -p "$state"
	if ! kind get clusters 2>/dev/null | grep -qx "$name"; then
		{
			printf 'kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nnodes:\n- role: control-plane\n'
			for ((i = 0; i < workers; i++)); do echo '- role: worker'; done
		} >"$state/config.yaml"
		kind create cluster --name "$name" --config "$state/config.yaml" --kubeconfig "$state/kubeconfig" \
			--wait 180s ${GW_KIND_NODE_IMAGE:+--image "$GW_KIND_NODE_IMAGE"} >&2
	fi
	kind export kubeconfig -q --name "$name" --kubeconfig "$state/kubeconfig"
	echo "export KUBECONFIG=$state/kubeconfig"
}

case ${1:-} in
up)
	if [[ -x $scripts/up ]]; then
		GW_CLUSTER_NAME=$name "$scripts/up" "$workers" >/dev/null
		"$0" env
	else
		plain_up
	fi
	;;
env)
	if [[ -x $scripts/up ]]; then
		kubeconfig=${GW_CLUSTER_STATE:-/tmp/gw-cluster}/$name.kubeconfig
		[[ -s $kubeconfig ]] || exit 1
		# At the end: that folder has programs of other names as well, node among them.
		echo "export KUBECONFIG=$kubeconfig PATH=\$PATH:${GW_CLUSTER_CACHE:-$HOME/.cache/gw-cluster}/bin"
	else
		[[ -s $state/kubeconfig ]] || exit 1
		echo "export KUBECONFIG=$state/kubeconfig"
	fi
	;;
down)
	if [[ -x $scripts/down ]]; then
		GW_CLUSTER_NAME=$name "$scripts/down"
	else
		kind delete cluster --name "$name" --kubeconfig "$state/kubeconfig"
		rm -rf "$state"
	fi
	;;
load)
	shift
	eval "$("$0" env)"
	for image in "$@"; do
		if docker image inspect "$image" >/dev/null 2>&1; then
			kind load docker-image --name "$name" "$image"
		else # built by another tool, such as buildah
			tool=${GW_CONTAINER_TOOL:?docker does not have $image; GW_CONTAINER_TOOL says who built it}
			mkdir -p "$state"
			rm -f "$state/image.tar"
			case $tool in
			nerdctl) "$tool" save -o "$state/image.tar" "$image" ;;
			*) "$tool" push -q "$image" "docker-archive:$state/image.tar:$image" ;;
			esac
			kind load image-archive --name "$name" "$state/image.tar"
			rm -f "$state/image.tar"
		fi
	done
	;;
*)
	echo "usage: kind.sh up|down|env|load IMAGE..." >&2
	exit 2
	;;
esac
