// Every setting of the operator and its default, read from the environment (resources supplement, section 2.1). All
// values are checked at the start; all invalid ones are reported.
import { GROUP } from '#api/group.ts'
import { isRecord, parseJson } from '#api/json.ts'
import { isAddressRange } from '#api/net/address-guard.ts'
import { isUnixPath } from '#api/net/unix-path.ts'
import type { Problem } from '#api/problem.ts'
import { LOOKUP_FAMILIES } from '#api/units/lookup-family.ts'
import { DEFAULT_DEPLOY_SETTINGS } from '#deployer/default-settings.ts'
import { type DeploySettings, type GatewayRestrictions, PARAMETERS_MODES } from '#deployer/input.ts'
import { parseFieldPath } from '#deployer/restrictions/field-path.ts'
import type { LabelSelector } from '../translate/labels.ts'
import { DEFAULT_CAPS, type GatewayCaps } from '../translate/caps.ts'
import type { BackendRefGrantMode, HostBinding } from '../translate/translation.ts'

export interface OperatorSettings {
  readonly logLevel: LogLevel
  readonly controllerName: string
  readonly className: string
  readonly classParametersRefs: ReadonlyMap<string, ParametersRef>
  readonly namespaceSelectors: readonly LabelSelector[]
  /** If not empty, only objects of these namespaces are read. The operator's own namespace is one of them. */
  readonly watchNamespaces: readonly string[]
  readonly clusterDomain: string
  readonly areModelsEnabled: boolean
  readonly backendRefGrantMode: BackendRefGrantMode
  readonly caps: GatewayCaps
  /** Addresses and networks that key sets are fetched from in spite of api/net/address-guard.ts. */
  readonly keySetAllowAddresses: readonly string[]
  readonly hostBindings: readonly HostBinding[]
  /** Metrics of the runtime in addition to those of the operator. */
  readonly hasRuntimeMetrics: boolean
  readonly areExperimentalKindsEnabled: boolean
  readonly areInferencePoolsEnabled: boolean
  readonly isLeaderElectionEnabled: boolean
  /** Namespace of the operator itself. */
  readonly namespace: string
  /** Who holds the lease. */
  readonly identity: string
  readonly deploy: DeploySettings
  /** The ConfigMap in which the control plane of the mesh describes the mesh. */
  readonly mesh: { readonly namespace: string; readonly revision: string }
  readonly health: Address
  readonly metrics: Address
  readonly admin: Address
}

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug', 'trace'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

const GRANT_MODES = ['route-and-policy', 'route', 'none'] as const satisfies readonly BackendRefGrantMode[]

export interface Address {
  readonly host: string
  readonly port: number
}

export interface ParametersRef {
  readonly group: string
  readonly kind: string
  readonly name: string
  readonly namespace: string
}

export type Environment = Readonly<Record<string, string | undefined>>

/** A host name, or a wildcard of one, and a namespace. */
const HOST_BINDING = /^((?:\*\.)?[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?)=([a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)$/
const PREFIX = 'GW_'
const NAME = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/
const NAMESPACE = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/
const CONTROLLER_NAME = /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?\/[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/
/** As container runtimes accept them; the registry may have a port and a path. */
const IMAGE_PLACE = /^(?:\[[\da-fA-F:]+\]|[A-Za-z\d][\w.-]*)(?::\d{1,5})?(?:\/[A-Za-z\d][\w.-]*)*$/
const IMAGE_TAG = /^\w[\w.-]{0,127}$/
const OPERATORS: ReadonlySet<unknown> = new Set(['In', 'NotIn', 'Exists', 'DoesNotExist'])
const PORT_MAX = 65_535
const KEY_PREFIX = /^[A-Za-z0-9][-A-Za-z0-9_./]{0,316}$/
/** In a list: the default entries; alone: no entries. */
const [DEFAULT_WORD, NONE_WORD] = ['default', 'none']
/** Not settings: api/version.ts. */
const OF_IMAGES: ReadonlySet<string> = new Set(['GW_BUILD_COMMIT', 'GW_BUILD_DATE'])
/** Variables that Kubernetes sets in pods for Services; one Service may have the name `gw`. */
const SERVICE_LINK = /_(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT(?:_[A-Z0-9_]+)?)$/

export function resolveOperatorSettings(
  environment: Environment,
  hostName: string,
):
  | { readonly settings: OperatorSettings; readonly unknown: readonly string[] }
  | { readonly problems: readonly Problem[] } {
  const reader = new Reader(environment)
  const namespace = reader.ownNamespace()
  const watched = reader.names('WATCH_NAMESPACES')
  const isExperimental = reader.flag('ENABLE_EXPERIMENTAL_GATEWAY_API_FEATURES', true)
  const settings: OperatorSettings = {
    logLevel: reader.one('LOG_LEVEL', LOG_LEVELS, 'info'),
    controllerName: reader.matching('CONTROLLER_NAME', CONTROLLER_NAME, `${GROUP}/controller`),
    className: reader.matching('GATEWAY_CLASS_NAME', NAME, 'gw'),
    classParametersRefs: reader.parametersRefs('GATEWAY_CLASS_PARAMETERS_REFS'),
    namespaceSelectors: reader.selectors('DISCOVERY_NAMESPACE_SELECTORS'),
    watchNamespaces: watched.length === 0 ? [] : [...new Set([namespace, ...watched])],
    clusterDomain: reader.matching('CLUSTER_DOMAIN', NAME, 'cluster.local'),
    areModelsEnabled: reader.flag('ENABLE_MODELS', false),
    caps: capsOf(reader),
    keySetAllowAddresses: reader.addressRanges('KEY_SET_ALLOW_ADDRESSES'),
    backendRefGrantMode: reader.one('BACKEND_REF_GRANT_MODE', GRANT_MODES, 'route-and-policy'),
    hostBindings: reader.hostBindings('HOST_BINDINGS'),
    hasRuntimeMetrics: reader.flag('ENABLE_BUILTIN_DEFAULT_METRICS', false),
    areExperimentalKindsEnabled: isExperimental,
    areInferencePoolsEnabled: reader.flag('ENABLE_INFER_EXT', false),
    isLeaderElectionEnabled: !reader.flag('DISABLE_LEADER_ELECTION', false),
    namespace,
    identity: environment['POD_NAME'] ?? hostName,
    deploy: deploySettings(reader),
    mesh: {
      namespace: reader.matching('MESH_NAMESPACE', NAME, 'istio-system'),
      revision: reader.matching('MESH_REVISION', NAME, 'default'),
    },
    health: reader.address('HEALTH_ADDR', { host: '::', port: 9093 }),
    metrics: reader.address('METRICS_ADDR', { host: '::', port: 9092 }),
    admin: reader.address('ADMIN_ADDR', { host: '127.0.0.1', port: 9095 }),
  }
  if (reader.problems.length > 0) return { problems: reader.problems }
  return { settings, unknown: reader.unknown() }
}

function capsOf(reader: Reader): GatewayCaps {
  const { listenersMax, routeRulesMax, policyTargetsMax } = DEFAULT_CAPS
  return {
    listenersMax: reader.count('GATEWAY_LISTENERS_MAX', listenersMax),
    routeRulesMax: reader.count('GATEWAY_ROUTE_RULES_MAX', routeRulesMax),
    policyTargetsMax: reader.count('GATEWAY_POLICY_TARGETS_MAX', policyTargetsMax),
  }
}

function deploySettings(reader: Reader): DeploySettings {
  const family = reader.oneIfSet('DNS_LOOKUP_FAMILY', LOOKUP_FAMILIES)
  const { version, image, dummyPort } = DEFAULT_DEPLOY_SETTINGS
  return {
    version,
    image: {
      registry: reader.matching('PROXY_IMAGE_REGISTRY', IMAGE_PLACE, image.registry),
      repository: reader.matching('PROXY_IMAGE_REPOSITORY', IMAGE_PLACE, image.repository),
      tag: reader.matching('PROXY_IMAGE_TAG', IMAGE_TAG, image.tag),
    },
    dummyPort: reader.port('NO_LISTENERS_DUMMY_PORT', dummyPort),
    environment: {
      ...(family !== undefined && { DNS_LOOKUP_FAMILY: family }),
      ...listOf('BACKEND_ALLOW_ADDRESSES', reader.addressRanges('BACKEND_ALLOW_ADDRESSES')),
      ...listOf('BACKEND_ALLOW_UNIX_PATHS', reader.unixPaths('BACKEND_ALLOW_UNIX_PATHS')),
      ...(!reader.flag('LISTENER_BIND_IPV6', true) && { IPV6_ENABLED: 'false' }),
    },
    mesh: {
      autoEnabled: reader.flag('MESH_AUTO_ENABLED', false),
      caAddress: reader.text('MESH_CA_ADDRESS'),
      clusterId: reader.text('MESH_CLUSTER_ID'),
      network: reader.text('MESH_NETWORK'),
    },
    restrictions: restrictions(reader, DEFAULT_DEPLOY_SETTINGS.restrictions),
  }
}

/** As proxies read it; nothing where it is empty. */
function listOf(name: string, values: readonly string[]): Readonly<Record<string, string>> {
  return values.length === 0 ? {} : { [name]: values.join(',') }
}

function restrictions(reader: Reader, unset: GatewayRestrictions): GatewayRestrictions {
  const isField = (text: string): boolean => parseFieldPath(text) !== undefined
  const isPrefix = (text: string): boolean => KEY_PREFIX.test(text)
  const fields = { isValid: isField, example: 'fields such as image or deployment.spec.replicas' }
  const prefixes = { isValid: isPrefix, example: 'prefixes of keys such as example.com/' }
  return {
    parameters: reader.one('GATEWAY_PARAMETERS', PARAMETERS_MODES, unset.parameters),
    allowedFields: reader.list('GATEWAY_PARAMETERS_ALLOWED_FIELDS', { ...fields, unset: unset.allowedFields }),
    enforcedFields: reader.list('CLASS_PARAMETERS_ENFORCED_FIELDS', { ...fields, unset: unset.enforcedFields }),
    deniedKeyPrefixes: reader.list('GATEWAY_DENIED_KEY_PREFIXES', { ...prefixes, unset: unset.deniedKeyPrefixes }),
  }
}

interface ListRule {
  readonly isValid: (text: string) => boolean
  readonly example: string
  readonly unset: readonly string[]
}

class Reader {
  readonly problems: Problem[] = []
  readonly #environment: Environment
  readonly #read = new Set<string>()

  constructor(environment: Environment) {
    this.#environment = environment
  }

  /** Variables with our prefix that nothing reads: misspelt, or of another version. */
  unknown(): string[] {
    const isUnknown = (name: string): boolean =>
      name.startsWith(PREFIX) && !this.#read.has(name) && !OF_IMAGES.has(name) && !SERVICE_LINK.test(name)
    return Object.keys(this.#environment).filter(isUnknown).sort()
  }

  /** The name of the environment variable, without the prefix. */
  ownNamespace(): string {
    const [unset, value] = ['gw-system', this.#environment['POD_NAMESPACE'] ?? 'gw-system']
    return NAMESPACE.test(value) ? value : this.#refuseAs('POD_NAMESPACE', 'the name of a namespace', unset)
  }

  text(name: string): string | undefined {
    this.#read.add(PREFIX + name)
    const value = this.#environment[PREFIX + name]?.trim()
    return value === '' ? undefined : value
  }

  flag(name: string, unset: boolean): boolean {
    const value = this.text(name)
    if (value === undefined || value === 'true' || value === 'false')
      return value === undefined ? unset : value === 'true'
    return this.#refuse(name, 'true or false', unset)
  }

  one<T extends string>(name: string, allowed: readonly T[], unset: T): T {
    const value = this.text(name)
    if (value === undefined) return unset
    return allowed.find((each) => each === value) ?? this.#refuse(name, `one of ${allowed.join(', ')}`, unset)
  }

  oneIfSet<T extends string>(name: string, allowed: readonly T[]): T | undefined {
    const [unset] = allowed
    return unset === undefined || this.text(name) === undefined ? undefined : this.one(name, allowed, unset)
  }

  matching(name: string, pattern: RegExp, unset: string): string {
    const value = this.text(name) ?? unset
    return pattern.test(value) ? value : this.#refuse(name, `like ${unset}`, unset)
  }

  /** Separated by commas. */
  names(name: string): readonly string[] {
    const names = (this.text(name) ?? '').split(',').map((one) => one.trim())
    const given = names.filter((one) => one !== '')
    return given.every((one) => NAMESPACE.test(one)) ? given : this.#refuse(name, 'namespaces, separated by commas', [])
  }

  /** As proxies take them. */
  addressRanges(name: string): readonly string[] {
    const ranges = this.text(name)?.split(/[\s,]+/) ?? []
    if (ranges.every(isAddressRange)) return ranges
    return this.#refuse(name, 'a list of addresses and networks, for example 10.0.0.0/8,::1', [])
  }

  unixPaths(name: string): readonly string[] {
    const paths = this.text(name)?.split(/[\s,]+/) ?? []
    if (paths.every(isUnixPath)) return paths
    return this.#refuse(name, 'a list of absolute paths of sockets or folders, for example /run/app', [])
  }

  /** Separated by commas. */
  list(name: string, { isValid, example, unset }: ListRule): readonly string[] {
    const value = this.text(name)
    if (value === undefined) return unset
    if (value === NONE_WORD) return []
    const items = value.split(',').map((one) => one.trim())
    const expected = `${NONE_WORD}, or ${example}, separated by commas; ${DEFAULT_WORD} stands for the default list`
    if (!items.every((one) => one === DEFAULT_WORD || isValid(one))) return this.#refuse(name, expected, unset)
    return [...new Set(items.flatMap((one) => (one === DEFAULT_WORD ? unset : [one])))]
  }

  /** `host=namespace`, separated by commas. */
  hostBindings(name: string): readonly HostBinding[] {
    const entries = (this.text(name) ?? '').split(',').map((one) => one.trim())
    const given = entries.filter((one) => one !== '').map((one) => HOST_BINDING.exec(one))
    const bindings = given.flatMap((parts) =>
      parts === null ? [] : [{ host: parts[1] ?? '', namespaces: [parts[2] ?? ''] }],
    )
    const isSound = bindings.length === given.length
    return isSound ? bindings : this.#refuse(name, 'like *.team-a.example.com=team-a, separated by commas', [])
  }

  port(name: string, unset: number): number {
    const value = this.text(name) ?? String(unset)
    const port = /^\d{1,5}$/.test(value) ? Number(value) : PORT_MAX + 1
    return port <= PORT_MAX ? port : this.#refuse(name, `a port from 0 to ${PORT_MAX}`, unset)
  }

  count(name: string, unset: number): number {
    const value = this.text(name) ?? String(unset)
    return /^[1-9]\d{0,8}$/.test(value) ? Number(value) : this.#refuse(name, 'a number from 1 to 999999999', unset)
  }

  address(name: string, unset: Address): Address {
    const value = this.text(name)
    if (value === undefined) return unset
    const parts = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(value)
    const port = Number(parts?.[3] ?? PORT_MAX + 1)
    if (parts === null || port > PORT_MAX) return this.#refuse(name, 'host:port, for example 127.0.0.1:9095', unset)
    return { host: parts[1] ?? parts[2] ?? '', port }
  }

  parametersRefs(name: string): ReadonlyMap<string, ParametersRef> {
    const value = this.#json(name, {})
    if (!isRecord(value)) return this.#refuse(name, 'a JSON object of class names', new Map())
    const found = new Map<string, ParametersRef>()
    for (const [className, ref] of Object.entries(value)) {
      const { group = GROUP, kind = 'GwParameters', name: refName, namespace } = isRecord(ref) ? ref : {}
      const parts = [group, kind, refName, namespace]
      if (!parts.every((part): part is string => typeof part === 'string' && part !== '')) {
        return this.#refuse(name, `{"${className}": {"name": …, "namespace": …}}`, new Map())
      }
      const [asGroup = '', asKind = '', asName = '', asNamespace = ''] = parts
      found.set(className, { group: asGroup, kind: asKind, name: asName, namespace: asNamespace })
    }
    return found
  }

  selectors(name: string): readonly LabelSelector[] {
    const value = this.#json(name, [])
    if (Array.isArray(value) && value.every(isLabelSelector)) return value
    return this.#refuse(name, 'a JSON list of label selectors (matchLabels, matchExpressions)', [])
  }

  #json(name: string, unset: unknown): unknown {
    const value = this.text(name)
    // The caller rejects invalid JSON, and names the expected form.
    return value === undefined ? unset : parseJson(value)
  }

  #refuse<T>(name: string, expected: string, unset: T): T {
    return this.#refuseAs(PREFIX + name, expected, unset)
  }

  #refuseAs<T>(path: string, expected: string, unset: T): T {
    const message = `the environment variable must be ${expected}`
    this.problems.push({ path, reason: 'InvalidEnvironment', message, severity: 'error' })
    return unset
  }
}

function isLabelSelector(value: unknown): value is LabelSelector {
  if (!isRecord(value)) return false
  const { matchLabels = {}, matchExpressions = [], ...others } = value
  if (Object.keys(others).length > 0 || !isRecord(matchLabels) || !Array.isArray(matchExpressions)) return false
  return (
    Object.values(matchLabels).every((one) => typeof one === 'string') &&
    matchExpressions.every(
      (one) =>
        isRecord(one) &&
        typeof one['key'] === 'string' &&
        OPERATORS.has(one['operator']) &&
        (one['values'] === undefined || Array.isArray(one['values'])),
    )
  )
}
