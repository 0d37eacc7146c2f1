#!/usr/bin/env bash
# `make conformance`: the conformance suite of Gateway API v1.6.3 against the controller in a cluster.
#   run.sh prepare        builds the suite and its servers, loads their images, deploys Gw
#   run.sh [FLAG...]      the same, then the suite with these flags; -run-test NAME for one test
# The cluster is that of KUBECONFIG, else the one of `make kind-up`, which is started where it is missing.
# CHANNEL: standard or experimental; the kinds of the Gateway API in the cluster are made those of this channel (default:
# they stay as they are). PROFILES: GATEWAY-HTTP,GATEWAY-GRPC,GATEWAY-TLS,GATEWAY-TCP (default). REPORT: file of the report
# (default: none is written). DEPLOY=no: the controller in the cluster is tested as it is. USABLE_ADDRESS,
# UNUSABLE_ADDRESS: one that the load balancer gives when it is asked for, and one that it does not give.
# Skipped, with a line, where nothing can run a cluster.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=test/gateway-conformance
source test/gateway-conformance/cluster.sh

cache=$PWD/.cache/gateway-conformance
export CGO_ENABLED=0 GOFLAGS='-trimpath -buildvcs=false' GOWORK=off GOTOOLCHAIN=local

# The modules come from the Go module proxy; go.sum pins their content.
build() {
	local key
	key=$(cat "$here"/*.go "$here"/go.* | sha256sum)
	[[ -x $cache/suite && $(cat "$cache/key" 2>/dev/null) == "$key" ]] && return
	mkdir -p "$cache"
	# A module that only lends its files is not fetched by a build.
	(cd "$here" && go mod download sigs.k8s.io/gateway-api/conformance &&
		go test -c -ldflags '-s -w' -o "$cache/suite" . &&
		go build -ldflags '-s -w' -o "$cache/echo-basic" sigs.k8s.io/gateway-api/conformance/echo-basic)
	echo "$key" >"$cache/key"
}

# The suite names images of a registry; equal ones are made here and put on the nodes under these names.
images() {
	local suite image nodes node
	suite=$(cd "$here" && go list -m -f '{{.Dir}}' sigs.k8s.io/gateway-api/conformance)
	nodes=$(kind get nodes --name "$cluster")
	for image in $(grep -rhoE 'image: [^ ]+' "$suite/base" "$suite/tests" --include='*.yaml' | sed 's/^image: //' | sort -u); do
		case $image in
		*/echo-basic:*)
			docker image inspect "$image" >/dev/null 2>&1 ||
				tar -C "$cache" --owner=0 --group=0 -c echo-basic |
					docker import -c 'ENTRYPOINT ["/echo-basic"]' -c 'USER 65532:65532' - "$image" >/dev/null
			kind load docker-image -q "$image" --name "$cluster"
			;;
		*/coredns:*)
			for node in $nodes; do # the one of the cluster serves as well, whatever its number
				have=$(docker exec "$node" ctr --namespace=k8s.io images ls -q | grep /coredns: | head -1)
				docker exec "$node" ctr --namespace=k8s.io images tag --force "$have" "$image" >/dev/null
			done
			;;
		*) say "no replacement for the image $image" ;;
		esac
	done
}

# The kinds of the experimental channel are refused over those of the standard one as long as a policy is there that
# guards users' clusters. A cluster for tests may change.
channel() {
	local wanted=$1 found
	found=$(kubectl get crd httproutes.gateway.networking.k8s.io --ignore-not-found \
		-o 'jsonpath={.metadata.annotations.gateway\.networking\.k8s\.io/channel}')
	[[ $found != "$wanted" ]] || return 0
	if [[ -n $found && $wanted == experimental ]]; then
		kubectl delete validatingadmissionpolicy,validatingadmissionpolicybinding \
			safe-upgrades.gateway.networking.k8s.io --ignore-not-found >/dev/null
		# The API server forgets a policy a little later.
		for _ in $(seq 30); do
			GATEWAY_API=apply GATEWAY_API_CHANNEL=$wanted hack/install-crds.sh >/dev/null 2>&1 && return
			sleep 1
		done
	fi
	GATEWAY_API=apply GATEWAY_API_CHANNEL=$wanted hack/install-crds.sh >/dev/null
}

# The class claims retries where their field is there; the controller looks once a minute.
claimed() {
	local wanted=1
	[[ $1 == experimental ]] && wanted=0
	for _ in $(seq 120); do
		local found=0
		kubectl get gatewayclass gw -o 'jsonpath={.status.supportedFeatures[*].name}' | grep -qw HTTPRouteRetry || found=1
		[[ $found != "$wanted" ]] || return 0
		sleep 1
	done
	say "the class does not claim what the $1 channel has"
	return 1
}

use_cluster conformance
[[ -z ${CHANNEL:-} ]] || channel "$CHANNEL"
build
[[ -z $cluster ]] || images
[[ ${DEPLOY:-yes} == no ]] || deploy_build
[[ -z ${CHANNEL:-} ]] || claimed "$CHANNEL"
[[ ${1:-} != prepare ]] || exit 0

report=()
if [[ -n ${REPORT:-} ]]; then
	mkdir -p "$(dirname "$REPORT")"
	report=(-report-output "$(realpath "$REPORT")" -organization gw -project gw -url https://gw.dev -contact https://gw.dev
		-version "v$(sed -n 's/^  "version": "\(.*\)",$/\1/p' package.json)")
fi
# Which features are supported the suite reads in the status of the class.
# Few at a time: on two processors the tests would fail by their own deadlines.
exec "$cache/suite" -test.v -test.parallel "${PARALLEL:-4}" -test.timeout "${TIMEOUT:-60m}" -gateway-class gw \
	-usable-address "${USABLE_ADDRESS:-10.245.0.200}" -unusable-address "${UNUSABLE_ADDRESS:-192.0.2.1}" \
	-conformance-profiles "${PROFILES:-GATEWAY-HTTP,GATEWAY-GRPC,GATEWAY-TLS,GATEWAY-TCP}" "${report[@]}" "$@"
