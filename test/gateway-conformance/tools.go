//go:build tools

// Names the server that the suite sends its requests to, so that it is built with the versions of go.mod.
package gatewayconformance

import _ "sigs.k8s.io/gateway-api/conformance/echo-basic"
