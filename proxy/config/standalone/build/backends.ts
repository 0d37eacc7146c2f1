// Backends: named ones, and those written inside a route.
import type { AgentCoreBackend, Backend, BackendReference, RouteBackend } from '#api/ir/types.gen.ts'
import { hintFor } from '#api/nearest.ts'
import { pathTo } from '../field-path.ts'
import type { AwsFields, NamedBackendFields, RouteBackendFields } from '../schema/backends.ts'
import { aiBody } from './ai.ts'
import { backendSide, refuseMcpPolicies, serviceSide, type BackendSide } from './backend-policies.ts'
import { DEFAULT_NAMESPACE, type BackendKind, type BackendPlace, type BuildContext } from './context.ts'
import { ifSet } from './defined.ts'
import { addMcpTargets, mcpBody } from './mcp-backend.ts'
import { serviceNamed } from './discovery.ts'
import { backendNamed } from './references.ts'

const FORMS = ['host', 'backend', 'service', 'mcp', 'ai', 'dynamic', 'aws', 'routeGroup', 'http', 'invalid'] as const
const NAMED_FORMS = ['host', 'mcp', 'ai', 'dynamic', 'aws'] as const

export function addNamedBackends(backends: readonly NamedBackendFields[], context: BuildContext): void {
  const places = new Map<string, BackendPlace>()
  for (const [index, fields] of backends.entries()) {
    const path = pathTo('backends', index)
    const former = places.get(fields.name)
    if (former !== undefined) context.error(pathTo(path, 'name'), `the name is already used by ${former.path}`)
    else if (hasExactlyOne(fields, NAMED_FORMS, path, context)) {
      places.set(fields.name, { key: `/${fields.name}`, name: fields.name, path })
      context.declareBackend(fields.name, kindOf(fields))
    }
  }
  // Addresses first: MCP targets copy their policies.
  for (const isHost of [true, false]) {
    for (const [index, fields] of backends.entries()) {
      const place = places.get(fields.name)
      const isOwn = place?.path === pathTo('backends', index)
      if (place !== undefined && isOwn && (kindOf(fields) === 'host') === isHost) addBackend(fields, place, context)
    }
  }
}

/** One entry of `backends` of a route. */
export function routeBackend(
  fields: RouteBackendFields,
  place: { readonly routeKey: string; readonly index: number; readonly path: string },
  context: BuildContext,
): RouteBackend | undefined {
  const { path } = place
  if (!hasExactlyOne(fields, FORMS, path, context)) return undefined
  const weight = fields.weight ?? 1
  if (fields.invalid !== undefined) {
    const message = `${pathTo(path, 'invalid')} is set: this backend rejects every request`
    return { weight, ref: { invalid: { reason: 'BackendNotFound', message } } }
  }
  if (fields.routeGroup !== undefined) return groupReference(fields, weight, path, context)
  if (fields.backend !== undefined) {
    return namedReference(
      { fields, ref: backendNamed(fields.backend, pathTo(path, 'backend'), context) },
      path,
      context,
    )
  }
  if (fields.service !== undefined) {
    return namedReference(
      { fields, ref: serviceNamed(fields.service, pathTo(path, 'service'), context) },
      path,
      context,
    )
  }
  // The slash keeps inline backends apart from named ones, whose names have none.
  const key = `/${place.routeKey}/backend${place.index}`
  const { host = ifSet(fields.http, ({ hostname, port }) => ({ host: hostname, port })) } = fields
  addBackend({ ...fields, host }, { key, name: key.slice(1), path }, context)
  return { weight, ref: { backend: key } }
}

function groupReference(
  { routeGroup = '', policies }: RouteBackendFields,
  weight: number,
  path: string,
  context: BuildContext,
): RouteBackend {
  if (policies !== undefined) context.error(pathTo(path, 'policies'), 'must be set on the routes of the group')
  if (context.routeGroups.has(routeGroup)) return { weight, ref: { routeGroup: routeGroupKey(routeGroup) } }
  const hint = hintFor(routeGroup, [...context.routeGroups], 'declare it in routeGroups')
  const message = `there is no route group named ${routeGroup}`
  context.error(pathTo(path, 'routeGroup'), `${message}; ${hint}`)
  return { weight, ref: { invalid: { reason: 'BackendNotFound', message } } }
}

export function routeGroupKey(name: string): string {
  return `routeGroup/${name}`
}

function namedReference(
  { fields, ref }: { readonly fields: RouteBackendFields; readonly ref: BackendReference },
  path: string,
  context: BuildContext,
): RouteBackend {
  const { policies, weight = 1 } = fields
  if (policies === undefined) return { weight, ref }
  const at = pathTo(path, 'policies')
  const side = fields.service === undefined ? backendSide(policies, at, context) : serviceSide(policies, at, context)
  if (policies.a2a !== undefined) {
    const cure = fields.service === undefined ? 'set on the named backend' : 'set in appProtocols of the service'
    context.error(pathTo(at, 'a2a'), `must be ${cure}`)
  }
  if (side.mcpRules.length > 0) {
    context.error(pathTo(at, 'mcpAuthorization'), 'must be set on the named backend, which other routes may share')
  }
  return { weight, ref, inlinePolicies: side.payload }
}

type InlineFields = Pick<NamedBackendFields, (typeof NAMED_FORMS)[number] | 'policies'>

export function addBackend(fields: InlineFields, place: BackendPlace, context: BuildContext): void {
  const { key, name, path } = place
  const side = backendSide(fields.policies ?? {}, pathTo(path, 'policies'), context)
  const kind = kindOf(fields)
  const backend: Backend = {
    key,
    name: { namespace: DEFAULT_NAMESPACE, name },
    ...bodyOf(fields, place, context),
    ...(isAgent(fields, kind, path, context) && { a2a: true }),
    ...(Object.keys(side.payload).length > 0 && { inlinePolicies: side.payload }),
  }
  context.backendKinds.set(key, kind)
  context.config.backends.push(backend)
  if (fields.mcp !== undefined) addMcpTargets(fields.mcp, { ...place, path: pathTo(path, 'mcp') }, context)
  attachMcpRules(side, place, kind, context)
}

function attachMcpRules(
  { payload, mcpRules }: BackendSide,
  place: BackendPlace,
  kind: BackendKind,
  context: BuildContext,
): void {
  if (kind !== 'mcp') refuseMcpPolicies({ payload, mcpRules }, pathTo(place.path, 'policies'), context)
  for (const [index, mcpAuthorization] of mcpRules.entries()) {
    const target = { backend: { namespace: DEFAULT_NAMESPACE, name: place.name } }
    context.attach(`backend/${place.name}/mcpAuthorization/${index}`, target, { backend: { mcpAuthorization } })
  }
}

/** `policies.a2a` sets the kind of the backend. */
function isAgent({ policies }: InlineFields, kind: BackendKind, path: string, context: BuildContext): boolean {
  if (policies?.a2a === undefined) return false
  if (kind !== 'host') context.error(pathTo(path, 'policies', 'a2a'), 'has an effect only on a backend with a host')
  return true
}

function kindOf({ mcp, ai, dynamic, aws }: InlineFields): BackendKind {
  if (mcp !== undefined) return 'mcp'
  if (dynamic !== undefined) return 'dynamic'
  if (aws !== undefined) return 'aws'
  return ai === undefined ? 'host' : 'ai'
}

function bodyOf(
  { host, mcp, ai, dynamic, aws }: InlineFields,
  place: BackendPlace,
  context: BuildContext,
): Partial<Backend> {
  if (mcp !== undefined) return { mcp: mcpBody(mcp, { ...place, path: pathTo(place.path, 'mcp') }, context) }
  if (ai !== undefined) return { ai: aiBody(ai, pathTo(place.path, 'ai'), context) }
  if (dynamic !== undefined) return { dynamic: {} }
  if (aws !== undefined) return { agentCore: agentCoreBody(aws.agentCore) }
  return host === undefined ? {} : { static: host }
}

function agentCoreBody({ agentRuntimeArn, qualifier }: AwsFields['agentCore']): AgentCoreBackend {
  return { agentRuntimeRef: agentRuntimeArn, ...(qualifier !== undefined && { qualifier }) }
}

function hasExactlyOne(
  fields: Readonly<Record<string, unknown>>,
  forms: readonly string[],
  path: string,
  context: BuildContext,
): boolean {
  if (forms.filter((form) => fields[form] !== undefined).length === 1) return true
  context.error(path, `must have exactly one of ${forms.join(', ')}`)
  return false
}
