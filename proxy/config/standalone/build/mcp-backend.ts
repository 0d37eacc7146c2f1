// MCP backends: servers over Streamable HTTP and SSE, and HTTP APIs, each a separate backend; and commands that use
// stdin and stdout.
import type { BackendTarget, MCPBackend, McpToolPinning, MCPTarget } from '#api/ir/types.gen.ts'
import { readOpenApi, targetOf } from '#api/openapi/operations.ts'
import { pathTo } from '../field-path.ts'
import type { McpBackendFields, McpTargetFields } from '../schema/backends.ts'
import { parseAddress, type Address } from '../schema/values.ts'
import { backendSide } from './backend-policies.ts'
import { DEFAULT_NAMESPACE, type BackendPlace, type BuildContext } from './context.ts'
import { defined } from './defined.ts'
import { backendNamed } from './references.ts'

const SESSION_ROUTING = { stateful: 'Stateful', stateless: 'Stateless' } as const
const PREFIX_MODE = { conditional: 'Conditional', always: 'Always', never: 'Never' } as const
const FAILURE_MODE = { failClosed: 'FailClosed', failOpen: 'FailOpen' } as const
const PINNING_MODE = { report: 'Report', refuse: 'Refuse' } as const
const DEFAULT_PORT = { 'http:': 80, 'https:': 443 } as const

/** `place.path`: of the MCP fields. */
export function mcpBody(fields: McpBackendFields, place: BackendPlace, context: BuildContext): MCPBackend {
  const { targets, statefulMode = 'stateful', prefixMode = 'conditional', failureMode = 'failClosed' } = fields
  const { toolPinning } = fields
  return {
    targets: targets.map((target, index) => renderTarget(target, targetPlace(place, target, index), context)),
    sessionRouting: SESSION_ROUTING[statefulMode],
    prefixMode: PREFIX_MODE[prefixMode],
    failureMode: FAILURE_MODE[failureMode],
    ...(toolPinning !== undefined && { toolPinning: pinningOf(toolPinning, fields, place, context) }),
  }
}

function pinningOf(
  { mode = 'report', tools = [] }: NonNullable<McpBackendFields['toolPinning']>,
  { targets }: McpBackendFields,
  place: BackendPlace,
  context: BuildContext,
): McpToolPinning {
  const path = pathTo(place.path, 'toolPinning')
  if (mode === 'refuse' && tools.length === 0) context.error(pathTo(path, 'tools'), 'is required with mode refuse')
  const names = new Set(targets.map(({ name }) => name))
  const pinned = new Set<string>()
  for (const [index, { target, name }] of tools.entries()) {
    const at = pathTo(path, 'tools', index)
    if (!names.has(target)) context.error(pathTo(at, 'target'), `the backend has no target ${target}`)
    if (pinned.has(`${target} ${name}`)) context.error(pathTo(at, 'name'), 'has another pin already')
    pinned.add(`${target} ${name}`)
  }
  return { mode: PINNING_MODE[mode], tools }
}

/** The backends of targets with a host, and the policies of all targets. */
export function addMcpTargets({ targets }: McpBackendFields, place: BackendPlace, context: BuildContext): void {
  const names = new Map<string, string>()
  for (const [index, target] of targets.entries()) {
    const own = targetPlace(place, target, index)
    const former = names.get(target.name)
    if (former !== undefined) context.error(pathTo(own.path, 'name'), `the name is already used by ${former}`)
    names.set(target.name, own.path)
    const remote = remoteOf(target)
    const server = remote && serverOf(remote.fields, pathTo(own.path, remote.field), context)
    if (server !== undefined) addServer(server, own, context)
    attachPolicies(target, own, server?.isTls === true, context)
  }
}

interface TargetPlace extends BackendPlace {
  readonly target: BackendTarget & { readonly section: string }
}

function targetPlace(place: BackendPlace, { name }: McpTargetFields, index: number): TargetPlace {
  return {
    key: `${place.key}/${name}`,
    name: place.name,
    path: pathTo(place.path, 'targets', index),
    target: { namespace: DEFAULT_NAMESPACE, name: place.name, section: name },
  }
}

/** A server over HTTP, and the field that has it. */
interface RemoteServer {
  readonly field: 'mcp' | 'sse' | 'openapi'
  readonly fields: ServerFields
}

function remoteOf({ mcp, sse, openapi }: McpTargetFields): RemoteServer | undefined {
  if (mcp !== undefined) return { field: 'mcp', fields: mcp }
  if (sse !== undefined) return { field: 'sse', fields: sse }
  return openapi && { field: 'openapi', fields: openapi }
}

function renderTarget(target: McpTargetFields, place: TargetPlace, context: BuildContext): MCPTarget {
  const { name, mcp, sse, stdio, openapi } = target
  if ([mcp, sse, stdio, openapi].filter((one) => one !== undefined).length !== 1) {
    context.error(place.path, 'must have exactly one of mcp, sse, stdio, openapi')
  }
  if (stdio !== undefined) {
    const { cmd, args, env, clear_env: clearEnv } = stdio
    return { name, stdio: { cmd, ...defined({ args, env, clearEnv }) } }
  }
  const remote = remoteOf(target)
  if (remote === undefined) return { name, ref: { backend: place.key } }
  const { fields, field } = remote
  const isNamed = fields.backend !== undefined
  const path = isNamed ? fields.path : serverOf(fields, pathTo(place.path, field), context)?.path
  const ref = isNamed ? namedServer(remote, place, context) : { backend: place.key }
  if (openapi === undefined) return { name, ref, ...protocolOf(remote, path) }
  return { name, ref, ...documentOf(openapi.schema, { path, at: pathTo(place.path, 'openapi', 'schema') }, context) }
}

/** Operations that cannot be called are reported and left out. `path`: in place of that of the document. */
function documentOf(
  schema: NonNullable<McpTargetFields['openapi']>['schema'],
  { path, at }: { readonly path: string | undefined; readonly at: string },
  context: BuildContext,
): Pick<MCPTarget, 'openapi'> {
  const text = typeof schema === 'string' ? schema : context.readFile(pathTo(at, 'file'), schema.file)
  if (text === undefined) return {}
  const read = readOpenApi(text)
  if ('problem' in read) {
    context.error(at, read.problem)
    return {}
  }
  for (const problem of read.problems) context.warn(at, `left out ${problem}`)
  return { openapi: targetOf(read, path) }
}

function protocolOf({ field }: RemoteServer, path: string | undefined): Pick<MCPTarget, 'protocol' | 'path'> {
  return { protocol: field === 'sse' ? 'SSE' : 'StreamableHTTP', path: path ?? `/${field}` }
}

type ServerFields = NonNullable<McpTargetFields['mcp']>

function namedServer({ field, fields }: RemoteServer, place: TargetPlace, context: BuildContext) {
  const { backend, host, port } = fields
  const path = pathTo(place.path, field)
  if (host !== undefined || port !== undefined) context.error(path, 'must have either backend or host, not both')
  const ref = backendNamed(backend ?? '', pathTo(path, 'backend'), context)
  if (ref.backend !== undefined && context.backendKinds.get(ref.backend) !== 'host') {
    context.error(pathTo(path, 'backend'), `${ref.backend} must be a backend with a host`)
  }
  return ref
}

interface Server {
  readonly address: Address
  readonly path: string | undefined
  readonly isTls: boolean
}

/** undefined: reported, or a named backend. */
function serverOf({ host, port, path, backend }: ServerFields, at: string, context: BuildContext): Server | undefined {
  if (backend !== undefined) return undefined
  if (host === undefined) {
    context.error(pathTo(at, 'host'), 'is required: a URL, host:port, or a host with port set')
    return undefined
  }
  if (host.includes('://')) {
    if (port !== undefined || path !== undefined) context.error(at, 'must not have port or path if host is a URL')
    return serverOfUrl(host, pathTo(at, 'host'), context)
  }
  const address = port === undefined ? parseAddress(host) : { host, port }
  if (address !== undefined && !(port !== undefined && /[/:]/.test(host) && !isIpv6(host))) {
    return { address, path, isTls: false }
  }
  context.error(pathTo(at, 'host'), 'must be a URL, host:port, or a host with port set')
  return undefined
}

function isIpv6(host: string): boolean {
  return /^[0-9A-Fa-f:.]+$/.test(host) && host.includes(':')
}

/** The server of an http or https URL; undefined: reported. */
export function serverOfUrl(text: string, at: string, context: BuildContext): Server | undefined {
  const url = URL.parse(text)
  const { protocol } = url ?? { protocol: '' }
  if (url === null || (protocol !== 'http:' && protocol !== 'https:') || url.username !== '' || url.password !== '') {
    context.error(at, 'must be a URL with http or https and without user and password')
    return undefined
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const port = url.port === '' ? DEFAULT_PORT[protocol] : Number(url.port)
  const path = url.pathname === '/' && url.search === '' ? undefined : url.pathname + url.search
  return { address: { host, port }, path, isTls: protocol === 'https:' }
}

function addServer({ address }: Server, { key, name, target }: TargetPlace, context: BuildContext): void {
  context.backendKinds.set(key, 'host')
  context.config.backends.push({
    key,
    name: { namespace: DEFAULT_NAMESPACE, name },
    section: target.section,
    static: address,
  })
}

/** As policies of the section: the level at which targets have their own. */
function attachPolicies(
  { policies, ...target }: McpTargetFields,
  place: TargetPlace,
  isTls: boolean,
  context: BuildContext,
): void {
  const path = pathTo(place.path, 'policies')
  const own = backendSide(policies ?? {}, path, context)
  if (own.mcpRules.length > 0) {
    context.error(pathTo(path, 'mcpAuthorization'), 'must be set on the mcp backend; rules can read mcp.tool.target')
  }
  if (own.payload.mcpGuardrails !== undefined) {
    context.error(pathTo(path, 'mcpGuardrails'), 'must be set on the mcp backend; services get the name of the target')
  }
  const named = remoteOf(target)?.fields.backend
  const shared = named === undefined ? {} : context.inlinePoliciesOf(named)
  const rules = [...(shared.authorization ?? []), ...(own.payload.authorization ?? [])]
  const payload = {
    ...(isTls && { tls: {} }),
    ...shared,
    ...own.payload,
    ...(rules.length > 0 && { authorization: rules }),
  }
  const prefix = `backend/${place.name}/${place.target.section}`
  for (const [field, value] of Object.entries(payload)) {
    context.attach(`${prefix}/${field}`, { backend: place.target }, { backend: { [field]: value } })
  }
}
