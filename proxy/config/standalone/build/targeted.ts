// `policies`: the same policies as on routes, attached to named targets.
import type { PolicyTarget, RenderedConfig, TrafficPayload } from '#api/ir/types.gen.ts'
import { hintFor } from '#api/nearest.ts'
import { runsInPhase } from '../../../policy/fields.ts'
import { pathTo } from '../field-path.ts'
import type { TargetedPolicyFields } from '../schema/targets.ts'
import { routeBackendSide } from './backend-policies.ts'
import { DEFAULT_NAMESPACE, type BuildContext } from './context.ts'
import { defined } from './defined.ts'
import { routeTraffic } from './traffic.ts'

/** They depend on the match or the backends of one route. */
const ROUTE_ONLY = ['requestRedirect', 'urlRewrite', 'requestMirror', 'a2a'] as const

/** After everything they may name. */
export function addTargeted(policies: readonly TargetedPolicyFields[], context: BuildContext): void {
  const names = new Set<string>()
  for (const [index, fields] of policies.entries()) {
    const path = pathTo('policies', index)
    const { name, namespace = DEFAULT_NAMESPACE } = fields.name
    const key = `policy/${namespace}/${name}`
    if (names.has(key)) context.error(pathTo(path, 'name'), `policy ${namespace}/${name} already exists`)
    names.add(key)
    attach(fields, { key, path }, context)
  }
}

function attach(
  fields: TargetedPolicyFields,
  { key, path }: { readonly key: string; readonly path: string },
  context: BuildContext,
): void {
  const target = targetOf(fields.target, pathTo(path, 'target'), context)
  const at = pathTo(path, 'policy')
  const { payload, rules } = routeTraffic(fields.policy, at, context)
  const backend = routeBackendSide(fields.policy, at, context)
  const traffic: TrafficPayload[] = [
    ...Object.entries(payload).map(([field, value]): TrafficPayload => ({ [field]: value })),
    ...(fields.target.backend === undefined ? rules.map((authorization) => ({ authorization })) : []),
  ]
  checkFields(fields, traffic, path, context)
  const phase = fields.phase === 'gateway' ? ({ phase: 'PreRouting' } as const) : {}
  for (const [index, one] of traffic.entries()) {
    context.attach(`${key}/traffic/${index}`, target, { ...phase, traffic: one })
  }
  const sides = {
    ...backend.payload,
    ...(fields.target.backend !== undefined && rules.length > 0 && { authorization: [...rules] }),
  }
  for (const [field, value] of Object.entries(sides)) {
    context.attach(`${key}/backend/${field}`, target, { backend: { [field]: value } })
  }
  for (const [index, mcpAuthorization] of backend.mcpRules.entries()) {
    context.attach(`${key}/mcpAuthorization/${index}`, target, { backend: { mcpAuthorization } })
  }
}

function checkFields(
  { policy, phase, target }: TargetedPolicyFields,
  traffic: readonly TrafficPayload[],
  path: string,
  context: BuildContext,
): void {
  for (const field of ROUTE_ONLY) {
    if (policy[field] !== undefined)
      context.error(pathTo(path, 'policy', field), 'has an effect only in the policies of a route')
  }
  if (target.backend !== undefined && traffic.length > 0) {
    context.error(pathTo(path, 'policy'), 'contains request policies, which require a gateway or route as target')
  }
  if (phase !== 'gateway') return
  if (target.gateway === undefined) {
    context.error(
      pathTo(path, 'phase'),
      'the phase gateway requires a gateway as target: it runs before a route is selected',
    )
  }
  // The members of a built payload are fields of the contract.
  const fields = traffic.flatMap((one) => Object.keys(one) as (keyof TrafficPayload)[])
  const late = fields.filter((field) => !runsInPhase(field, 'PreRouting'))
  if (late.length > 0)
    context.error(pathTo(path, 'phase'), `does not run ${[...new Set(late)].join(', ')}: use the phase route`)
}

function targetOf(
  { gateway, route, backend }: TargetedPolicyFields['target'],
  path: string,
  context: BuildContext,
): PolicyTarget {
  const { config } = context
  if (gateway !== undefined) {
    const { gatewayName, gatewayNamespace = DEFAULT_NAMESPACE, listenerName, port } = gateway
    expectOne({ name: gatewayName, kind: 'gateway', path: pathTo(path, 'gateway') }, gatewayNames(config), context)
    const target = { namespace: gatewayNamespace, name: gatewayName, ...defined({ listener: listenerName, port }) }
    return { gateway: target }
  }
  if (route !== undefined) {
    const { name, namespace = DEFAULT_NAMESPACE, ruleName, kind = 'HTTPRoute' } = route
    const names = config.routes.map((one) => one.name.name)
    expectOne({ name, kind: 'route', path: pathTo(path, 'route') }, names, context)
    return { route: { kind, namespace, name, ...defined({ ruleName }) } }
  }
  return backendTarget(backend ?? {}, pathTo(path, 'backend'), context)
}

function backendTarget(
  { backend, service }: NonNullable<TargetedPolicyFields['target']['backend']>,
  path: string,
  context: BuildContext,
): PolicyTarget {
  if (service !== undefined) {
    const { hostname, namespace = DEFAULT_NAMESPACE, port } = service
    const known = context.config.services.filter((one) => one.namespace === namespace)
    const names = known.map((one) => one.hostname)
    expectOne({ name: hostname, kind: 'service', path: pathTo(path, 'service') }, names, context)
    return { service: { namespace, hostname, ...defined({ port }) } }
  }
  const { name = '', namespace = DEFAULT_NAMESPACE, section } = backend ?? {}
  const names = [...context.namedBackends]
  expectOne({ name, kind: 'backend', path: pathTo(path, 'backend') }, names, context)
  return { backend: { namespace, name, ...defined({ section }) } }
}

function gatewayNames({ listeners }: RenderedConfig): string[] {
  return listeners.map(({ name }) => name.gatewayName)
}

/** Only the first names are listed if there are hundreds. */
const NAMES_SHOWN = 10

/** A policy without a target protects nothing. */
function expectOne(
  { name, kind, path }: { readonly name: string; readonly kind: string; readonly path: string },
  names: readonly string[],
  context: BuildContext,
): void {
  if (names.includes(name)) return
  const known = [...new Set(names)]
  const all = known.length === 0 ? 'none is defined' : `there are: ${known.slice(0, NAMES_SHOWN).join(', ')}`
  context.error(path, `there is no ${kind} named ${name}; ${hintFor(name, known, all)}`)
}
