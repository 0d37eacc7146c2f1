// Creates the operator's own GatewayClass, and creates it again after a deletion. A class of that name with another
// controller is not taken over: the API server rejects the change of an immutable field, and the log reports it.
import { Effect } from 'effect'
import { KubeClient } from '../kube/client.ts'
import { describeKubeError, type KubeError } from '../kube/errors.ts'
import { TRANSLATED } from '../kube/resources.ts'
import type { KubeObject } from '../translate/kube.ts'
import type { OperatorSettings } from './settings.ts'

export const applyGatewayClass = Effect.fn('operator.applyGatewayClass')(function* (settings: OperatorSettings) {
  const client = yield* KubeClient
  yield* client.apply(gatewayClassOf(settings), TRANSLATED.GatewayClass, settings.controllerName)
})

/** Tries once, while the cluster is still being read; later the queue of the leader tries until it succeeds. */
export function createMissingClass(settings: OperatorSettings): Effect.Effect<void, never, KubeClient> {
  return applyGatewayClass(settings).pipe(
    Effect.catch((error: KubeError) =>
      Effect.logWarning('cannot create the GatewayClass, will retry', settings.className, describeKubeError(error)),
    ),
  )
}

function gatewayClassOf({ className, controllerName, classParametersRefs }: OperatorSettings): KubeObject {
  const parametersRef = classParametersRefs.get(className)
  const spec = {
    controllerName,
    // At most 64 bytes.
    description: 'HTTP, gRPC, TCP, TLS, LLM and MCP traffic, run by Gw',
    ...(parametersRef !== undefined && { parametersRef }),
  }
  const object = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'GatewayClass',
    metadata: { name: className },
    spec,
  }
  return object
}
