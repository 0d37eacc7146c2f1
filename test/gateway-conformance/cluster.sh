# Read by run.sh: finds or starts a cluster, puts this build into it.

say() { echo "cluster tests: $*" >&2; }

# use_cluster WHAT: sets KUBECONFIG and cluster, the name of a kind cluster or nothing; ends WHAT with a line where no
# cluster can be had. A cluster that was not there before is named in $started.
use_cluster() {
	started=
	if [[ -z ${KUBECONFIG:-} ]]; then
		local variables
		if ! variables=$(hack/kind.sh env 2>/dev/null) || ! (eval "$variables" && kubectl get --raw /readyz >/dev/null 2>&1); then
			if [[ ! -x ${GW_CLUSTER_SCRIPTS:-../shared/cluster}/up ]] && ! { command -v kind && docker info; } >/dev/null 2>&1; then
				say "$1 skipped: no KUBECONFIG, no ${GW_CLUSTER_SCRIPTS:-../shared/cluster}, and no docker with kind"
				exit 0
			fi
			variables=$(hack/kind.sh up)
			started=yes
		fi
		eval "$variables"
	fi
	# Programs of the cluster may hide node under its own name.
	export PATH=$PWD/node_modules/.bin:$PATH
	local context
	context=$(kubectl config current-context)
	cluster=
	[[ $context != kind-* ]] || cluster=${context#kind-}
}

# Builds the images, loads them, deploys. In a cluster that is not of kind the images have to be in IMAGE_REGISTRY already.
# Sets IMAGE_TAG.
deploy_build() {
	if [[ -n $cluster ]]; then
		local names
		make --no-print-directory build >/dev/null
		names=$(node hack/image/main.ts --demo --tag content)
		IMAGE_TAG=$(head -1 <<<"$names")
		IMAGE_TAG=${IMAGE_TAG##*:}
		# shellcheck disable=SC2086
		kind load docker-image -q --name "$cluster" $names
	fi
	export IMAGE_TAG
	hack/deploy.sh up >/dev/null
	say "deployed ${IMAGE_TAG:-as config/default says}"
}
