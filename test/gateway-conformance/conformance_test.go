// The conformance suite of the Gateway API as a test of this module. What is tested is said by flags (run.sh).
package gatewayconformance

import (
	"testing"

	"sigs.k8s.io/gateway-api/conformance"
)

func TestConformance(t *testing.T) { conformance.RunConformance(t) }
