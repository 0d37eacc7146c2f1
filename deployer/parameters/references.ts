// Which GwParameters a Gateway uses: those its class refers to and those it refers to itself. A reference that leads
// nowhere is an error: nothing may be deployed in another way than it was asked for.
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { GatewayClass } from '#api/gateway/gatewayclass.gen.ts'
import { GROUP } from '#api/group.ts'
import type { GwParameters } from '#api/v1alpha1/gwparameters.gen.ts'
import type { DeployProblem, GatewayRestrictions } from '../input.ts'
import { type ObjectRef, refOf } from '../kube-object.ts'
import { RESTRICTION_SETTINGS } from '../restrictions/gateway-limits.ts'

export interface ReferencesInput {
  readonly gateway: Gateway
  readonly gatewayClass: GatewayClass
  readonly find: (namespace: string, name: string) => GwParameters | undefined
  readonly restrictions: Pick<GatewayRestrictions, 'parameters'>
}

export interface References {
  readonly classParameters: GwParameters | undefined
  readonly gatewayParameters: GwParameters | undefined
  readonly problems: readonly DeployProblem[]
}

const KIND = 'GwParameters'

export function parametersOf({ gateway, gatewayClass, find, restrictions }: ReferencesInput): References {
  const classRef = gatewayClass.spec.parametersRef
  const gatewayRef = gateway.spec.infrastructure?.parametersRef
  const ofClass = resolve(classRef, {
    object: refOf(gatewayClass),
    path: 'spec.parametersRef',
    namespace: classRef?.namespace,
    find,
  })
  const place = { object: refOf(gateway), path: 'spec.infrastructure.parametersRef' }
  const isRefused = restrictions.parameters === 'Refuse' && gatewayRef !== undefined
  const ofGateway = isRefused
    ? refusal(place, REFUSED)
    : resolve(gatewayRef, { ...place, namespace: refOf(gateway).namespace, find })
  return {
    classParameters: ofClass.found,
    gatewayParameters: ofGateway.found,
    problems: [...ofClass.problems, ...ofGateway.problems],
  }
}

interface Reference {
  readonly group: string
  readonly kind: string
  readonly name: string
}

const REFUSED =
  'this controller does not accept parameters of Gateways; remove the reference, set the fields in the GwParameters of the ' +
  `GatewayClass, or let an administrator set ${RESTRICTION_SETTINGS.parameters}=Allow`

interface ReferencePlace {
  readonly object: ObjectRef
  readonly path: string
}

interface ResolveInput extends ReferencePlace {
  readonly namespace: string | undefined
  readonly find: ReferencesInput['find']
}

interface Resolved {
  readonly found: GwParameters | undefined
  readonly problems: readonly DeployProblem[]
}

function resolve(reference: Reference | undefined, { object, path, namespace, find }: ResolveInput): Resolved {
  if (reference === undefined) return { found: undefined, problems: [] }
  const { group, kind, name } = reference
  const refused = (field: string, message: string): Resolved => refusal({ object, path: `${path}${field}` }, message)
  if (group !== GROUP || kind !== KIND) {
    return refused('', `${kind} of group "${group}" is not supported; refer to a ${KIND} of ${GROUP}`)
  }
  if (namespace === undefined) return refused('.namespace', `is required: the namespace of the ${KIND}`)
  const found = find(namespace, name)
  return found === undefined ? refused('', `${KIND} ${namespace}/${name} not found`) : { found, problems: [] }
}

function refusal({ object, path }: ReferencePlace, message: string): Resolved {
  return { found: undefined, problems: [{ object, path, reason: 'InvalidParameters', message, severity: 'error' }] }
}
