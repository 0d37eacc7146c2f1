// The status of a GatewayClass of ours.
import type { GatewayClass } from '#api/gateway/gatewayclass.gen.ts'
import { SUPPORTED_FEATURES } from '../translate/capabilities.ts'
import { condition } from './condition.ts'
import type { GatewayClassBody } from '../translate/object-status.ts'

/** Only the class that the operator created lists the features; those made by hand belong to their owners. */
export function gatewayClassStatus(gatewayClass: GatewayClass, ownName: string): GatewayClassBody {
  const { name, generation } = gatewayClass.metadata
  const message = 'GatewayClass accepted by Gw controller'
  return {
    conditions: [condition({ type: 'Accepted', isTrue: true, reason: 'Accepted', message, generation })],
    ...(name === ownName && { supportedFeatures: SUPPORTED_FEATURES.map((feature) => ({ name: feature })) }),
  }
}
