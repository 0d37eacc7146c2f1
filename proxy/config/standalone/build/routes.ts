// Routes of all forms: one rendered route for each listener; policies with several entries become targeted policies.
import type { BackendPayload, Route, RouteMatch, RouteTarget, ValueMatch } from '#api/ir/types.gen.ts'
import { pathTo } from '../field-path.ts'
import type { HeaderMatchFields } from '../schema/header-match.ts'
import type { RoutePolicies } from '../schema/policies.ts'
import type { MatchFields, RouteFields } from '../schema/file.ts'
import { routeBackendSide, type BackendSide } from './backend-policies.ts'
import { routeBackend } from './backends.ts'
import { DEFAULT_NAMESPACE, type BuildContext } from './context.ts'
import { defined } from './defined.ts'
import { routeTraffic } from './traffic.ts'

export interface RoutePlace {
  /** Of the route in the file. */
  readonly path: string
  /** Listeners it is attached to. */
  readonly listenerKeys: readonly string[]
}

type Owner = Pick<Route, 'listenerKey' | 'routeGroupKey'> & { readonly key: string }

const EVERYTHING: readonly RouteMatch[] = [{ path: { pathPrefix: '/' } }]

/** Generates names for routes without one, and keeps names unique: policies find their route by name. */
export class RouteRegistry {
  readonly #context: BuildContext
  /** `namespace/name` to the first route of that name. */
  readonly #names = new Map<string, { path: string; rules: Set<string | undefined> }>()
  #count = 0

  constructor(context: BuildContext) {
    this.#context = context
  }

  add(fields: RouteFields, { path, listenerKeys }: RoutePlace): void {
    this.#add(fields, { path, owners: listenerKeys.map((key) => ({ key, listenerKey: key })) })
  }

  /** A route that other routes delegate requests to. */
  addToGroup(fields: RouteFields, path: string, key: string): void {
    this.#add(fields, { path, owners: [{ key, routeGroupKey: key }] })
  }

  #add(fields: RouteFields, place: { readonly path: string; readonly owners: readonly Owner[] }): void {
    const index = this.#count++
    const name = this.#nameOf(fields, index, place.path)
    const policies = fields.policies ?? {}
    const path = pathTo(place.path, 'policies')
    const traffic = routeTraffic(policies, path, this.#context)
    attachPolicies(name, routeBackendSide(policies, path, this.#context), traffic.rules, this.#context)
    for (const { key: ownerKey, ...owner } of place.owners) {
      const key = routeKey(ownerKey, name)
      this.#context.config.routes.push({
        key,
        ...owner,
        name,
        // Among equal matches the older route wins; here that is the one earlier in the file.
        createdAt: index,
        hostnames: fields.hostnames ?? [],
        matches: fields.matches?.map(renderMatch) ?? [...EVERYTHING],
        backends: renderBackends(fields, key, place.path, this.#context),
        ...(Object.keys(traffic.payload).length > 0 && { inlinePolicies: traffic.payload }),
      })
    }
    checkRoute(fields, place.path, this.#context)
  }

  #nameOf(
    { name: given, namespace = DEFAULT_NAMESPACE, ruleName }: RouteFields,
    index: number,
    path: string,
  ): RouteTarget {
    const name = given ?? `route${index}`
    const key = `${namespace}/${name}`
    const former = this.#names.get(key)
    if (former === undefined) this.#names.set(key, { path, rules: new Set([ruleName]) })
    else if (former.rules.has(ruleName) || former.rules.has(undefined) || ruleName === undefined) {
      const message = `route ${key} is already defined at ${former.path}: change the name, or set a ruleName on each`
      this.#context.error(pathTo(path, 'name'), message)
    } else former.rules.add(ruleName)
    return { kind: 'HTTPRoute', namespace, name, ...defined({ ruleName }) }
  }
}

function routeKey(ownerKey: string, { namespace, name, ruleName }: RouteTarget): string {
  return `${ownerKey}/${namespace}/${name}${ruleName === undefined ? '' : `/${ruleName}`}`
}

function renderBackends(fields: RouteFields, key: string, path: string, context: BuildContext): Route['backends'] {
  // The kind of a backend belongs to the backend in the rendered configuration.
  const isOfAgents = fields.policies?.a2a !== undefined
  return (fields.backends ?? []).flatMap((backend, index) => {
    const own = isOfAgents ? { ...backend, policies: { ...backend.policies, a2a: {} } } : backend
    const rendered = routeBackend(own, { routeKey: key, index, path: pathTo(path, 'backends', index) }, context)
    return rendered === undefined ? [] : [rendered]
  })
}

export function attachPolicies(
  name: RouteTarget,
  { payload, mcpRules }: BackendSide,
  rules: ReturnType<typeof routeTraffic>['rules'],
  context: BuildContext,
): void {
  const target = { route: name }
  const prefix = `route/${name.namespace}/${name.name}${name.ruleName === undefined ? '' : `/${name.ruleName}`}`
  for (const [index, authorization] of rules.entries()) {
    context.attach(`${prefix}/authorization/${index}`, target, { traffic: { authorization } })
  }
  for (const [index, mcpAuthorization] of mcpRules.entries()) {
    context.attach(`${prefix}/mcpAuthorization/${index}`, target, { backend: { mcpAuthorization } })
  }
  for (const [field, value] of Object.entries(payload)) {
    // One field of the payload is a payload.
    const backend = { [field]: value } as BackendPayload
    context.attach(`${prefix}/backend/${field}`, target, { backend })
  }
}

function renderMatch({ path, method, headers, query }: MatchFields): RouteMatch {
  return defined({
    path: path === undefined ? { pathPrefix: '/' } : defined(path),
    method,
    headers: headers?.map(renderHeaderMatch),
    query: query?.map(({ name, value }) => ({ name, value: defined(value) })),
  })
}

export function renderHeaderMatch({ name, value }: HeaderMatchFields): ValueMatch {
  return { name, value: defined(value) }
}

/** Valid by schema, but certainly a mistake. */
function checkRoute({ backends = [], policies }: RouteFields, path: string, context: BuildContext): void {
  const answers = policies?.directResponse !== undefined || policies?.requestRedirect !== undefined
  if (backends.length === 0 && !answers) {
    context.warn(path, 'has no backends, directResponse or requestRedirect: every request fails')
  }
  const hasMcp = backends.some(
    ({ mcp, backend }) => mcp !== undefined || (backend !== undefined && context.kindOfBackend(backend) === 'mcp'),
  )
  if (!hasMcp && policies !== undefined) checkMcpRules(policies, pathTo(path, 'policies'), context)
}

/** Rules about tools would have no effect. */
function checkMcpRules(policies: RoutePolicies, path: string, context: BuildContext): void {
  const { mcpAuthorization, mcpAuthentication, mcpGuardrails } = policies
  const message = 'has an effect only with an mcp backend'
  if (mcpAuthorization !== undefined) context.error(pathTo(path, 'mcpAuthorization'), message)
  if (mcpGuardrails !== undefined) context.error(pathTo(path, 'mcpGuardrails'), message)
  if (mcpAuthentication?.authorization !== undefined) {
    context.error(pathTo(path, 'mcpAuthentication', 'authorization'), message)
  }
}
