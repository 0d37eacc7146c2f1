// Every setting of the proxy process and its default, in one place: options of the caller, else the environment
// (resources supplement, section 4.15; names with or without our prefix), else the default. Asks the machine for its
// processors and address families, nothing else.
import { availableParallelism, networkInterfaces } from 'node:os'
import { isAddressRange } from '#api/net/address-guard.ts'
import { isUnixPath } from '#api/net/unix-path.ts'
import type { Problem } from '#api/problem.ts'
import { parseDuration } from '#api/units/duration.ts'
import { LOOKUP_FAMILIES, type LookupFamily } from '#api/units/lookup-family.ts'
import type { ListenAddress } from '../admin/http-listener.ts'
import type { Locality } from '../backend/locality.ts'
import type { McpAccess } from '../mcp/access.ts'
import { MCP_SESSION_TTL_MS, MCP_SESSION_TTL_MS_MIN } from '../mcp/session-ttl.ts'
import { parseSessionKeys, SESSION_KEY_BYTES, SESSION_KEYS_RULE } from '../mcp/legacy/session-keys.ts'
import { isRedirectEntry } from '../policy/auth/mcp-oauth/redirect-uris.ts'
import { parseOrigin } from '../policy/browser/origin.ts'
import { DEFAULT_LIMITS } from '../http/handler.ts'
import { LEVEL_NAMES, parseLevelFilter } from '../log/level-filter.ts'
import { hboneEnvironment, type HboneLimits } from '../mesh/hbone-limits.ts'
import { meshEnvironment, type MeshSettings } from '../mesh/settings.ts'
import { otlpEnvironment, type OtlpEnvironment } from '../otlp/environment.ts'
import { CONNECTION_DEFAULTS, type ConnectionDefaults } from '../upstream/connection-defaults.ts'
import type { BackendExceptions } from '../upstream/backend-guard.ts'
import type { OverloadLimits } from '../overload/overload.ts'

export interface ProxySettings {
  readonly workers: number
  /** Address listeners bind to. */
  readonly listenAddress: string
  readonly admin: ListenAddress
  readonly stats: ListenAddress
  readonly readiness: ListenAddress
  readonly logFormat: 'text' | 'json'
  readonly logLevel: string
  readonly accessLog: boolean
  /** Pages of the web UI may send requests through listeners of this proxy. */
  readonly uiActions: boolean
  /** Pages of the web UI may read and change the files that configure the process. */
  readonly uiEdits: boolean
  /** File descriptor of all log lines. */
  readonly logFd: number
  /** Of 32 bytes each: the first seals, all open. undefined: a random one for each start. */
  readonly sessionKeys: readonly Uint8Array[] | undefined
  /**
   * Routes and backends are written by others than those who run the process (`gw proxy serve`): backends may not lead
   * to this host (upstream/backend-guard.ts), and the admin server requires a token (admin/admin-token.ts). Not a
   * variable: whoever may set one could switch it off.
   */
  readonly servesTenants: boolean
  /** What backends may reach in spite of it. */
  readonly backendAllow: BackendExceptions
  /** After which unused MCP sessions end at their servers. */
  readonly mcpSessionTtlMs: number
  /** Hosts and origins that MCP endpoints take besides their own. */
  readonly mcpAccess: McpAccess
  /** Addresses and networks that dynamic forward proxies may reach in spite of api/net/address-guard.ts. */
  readonly dynamicForwardAllow: readonly string[]
  /** Files of model traits. */
  readonly modelTraitsPaths: readonly string[]
  /** Which addresses of host names are used. */
  readonly dnsLookupFamily: LookupFamily
  /** Where this proxy is; what it does not say is taken from the configuration. */
  readonly place: Locality
  readonly podName: string | undefined
  readonly podNamespace: string | undefined
  /** Minimum and maximum of the graceful shutdown, both from its start. */
  readonly drain: { readonly minMs: number; readonly maxMs: number }
  /** A worker whose event loop stands still for so long is replaced; 0: never. */
  readonly workerHangMs: number
  /** When a worker refuses new requests. */
  readonly overload: OverloadLimits
  /** How long a client may send nothing of a body that is waited for; Infinity: no such limit. */
  readonly bodyIdleTimeoutMs: number
  /** Spans of listeners without a policy, and what every exported record says of this process. */
  readonly otlp: OtlpEnvironment
  /** undefined: the proxy is not part of a mesh. */
  readonly mesh: MeshSettings | undefined
  /** Of tunnels to workloads of the mesh. */
  readonly hbone: HboneLimits
  /** What connections to backends have without a policy; only a standalone file changes it. */
  readonly connections: ConnectionDefaults
}

export type Environment = Readonly<Record<string, string | undefined>>
export type ProxyOptions = { readonly [K in keyof ProxySettings]?: ProxySettings[K] | undefined }

/** All settings that cannot be used, one line each. */
export class SettingsError extends Error {
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(problems.map(({ path, message }) => `${path}: ${message}`).join('\n'))
    this.name = 'SettingsError'
    this.problems = problems
  }
}

const PREFIX = 'GW_'
export const MODEL_TRAITS_PATHS = 'MODEL_TRAITS_PATHS'
const WORKERS_MAX = 64
const SHARED_PORT_PLATFORMS: ReadonlySet<string> = new Set(['linux', 'freebsd'])
const LOCALITY_PARTS_MAX = 3
const HOST_NAME = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/
const DRAIN_MAX_MS = 5000
/** Ten thousand routes compile in a second or two; nothing else may hold a thread that long. */
const WORKER_HANG_MS = 15_000
/** Three turns in a row that late: seconds of too much work, not one large message. */
const OVERLOAD_LAG_MS = 1000
const OVERLOAD_MEMORY_PERCENT = 95
/** Of the pod's grace period, this much is left for the end of the process; 1 s when the period is short. */
const GRACE_RESERVE_SECONDS = 5
const GRACE_SHORT_SECONDS = 10

export function resolveSettings(
  options: ProxyOptions,
  environment: Environment,
): { settings: ProxySettings; problems: Problem[] } {
  const source = new EnvironmentReader(environment)
  const anyAddress = source.flag('IPV6_ENABLED', hasIpv6()) ? '::' : '0.0.0.0'
  const fromEnvironment: ProxySettings = {
    workers: workerCount(source),
    listenAddress: anyAddress,
    admin: source.address('ADMIN_ADDR', { host: 'localhost', port: 15_000 }),
    stats: source.address('STATS_ADDR', { host: anyAddress, port: 15_020 }),
    readiness: source.address('READINESS_ADDR', { host: anyAddress, port: 15_021 }),
    logFormat: source.get('LOG_FORMAT') === 'json' ? 'json' : 'text',
    logLevel: logLevelOf(source),
    accessLog: source.flag('ACCESS_LOG', true),
    uiActions: source.flag('UI_ACTIONS', false),
    uiEdits: source.flag('UI_EDITS', false),
    logFd: 1,
    sessionKeys: sessionKeysOf(source),
    servesTenants: false,
    backendAllow: {
      addresses: source.addressRanges('BACKEND_ALLOW_ADDRESSES'),
      unixPaths: source.unixPaths('BACKEND_ALLOW_UNIX_PATHS'),
    },
    mcpSessionTtlMs: sessionTtlOf(source),
    mcpAccess: mcpAccessOf(source),
    dynamicForwardAllow: source.addressRanges('DYNAMIC_FORWARD_ALLOW'),
    modelTraitsPaths: source.list(MODEL_TRAITS_PATHS) ?? [],
    dnsLookupFamily: source.one('DNS_LOOKUP_FAMILY', LOOKUP_FAMILIES, 'V4_PREFERRED'),
    place: placeOf(source),
    podName: source.get('POD_NAME'),
    podNamespace: source.get('POD_NAMESPACE'),
    drain: drainTimes(source),
    workerHangMs: source.durationMs('WORKER_HANG_TIMEOUT') ?? WORKER_HANG_MS,
    overload: {
      lagMs: source.durationMs('OVERLOAD_LAG') ?? OVERLOAD_LAG_MS,
      memoryShare: (source.percentage('OVERLOAD_MEMORY_PERCENT') ?? OVERLOAD_MEMORY_PERCENT) / 100,
    },
    bodyIdleTimeoutMs: bodyIdleTimeout(source),
    otlp: otlpEnvironment(source),
    mesh: meshEnvironment((name) => source.get(name)),
    hbone: hboneEnvironment(source),
    connections: CONNECTION_DEFAULTS,
  }
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  const settings = { ...fromEnvironment, ...given }
  return {
    settings: { ...settings, workers: possibleWorkers(settings.workers) },
    problems: [...source.problems, ...problemsOf(options)],
  }
}

/** Dual-stack sockets need IPv6 in the kernel; then at least ::1 is there. */
function hasIpv6(): boolean {
  return Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ family }) => family === 'IPv6'))
}

/** Several workers listen on one port; where the system cannot do that there is one. */
function possibleWorkers(wanted: number): number {
  return SHARED_PORT_PLATFORMS.has(process.platform) ? Math.min(wanted, WORKERS_MAX) : 1
}

function problemsOf({ workers, sessionKeys, logLevel }: ProxyOptions): Problem[] {
  const problems: Problem[] = []
  const refuse = (path: string, message: string): void => {
    problems.push({ path, reason: 'InvalidOption', message, severity: 'error' })
  }
  if (workers !== undefined && (!Number.isInteger(workers) || workers < 1)) {
    refuse('workers', 'must be a positive whole number')
  }
  if (sessionKeys?.every(({ length }) => length === SESSION_KEY_BYTES) === false || sessionKeys?.length === 0) {
    refuse('sessionKeys', `must have ${SESSION_KEY_BYTES} bytes each`)
  }
  const filter = logLevel === undefined ? undefined : parseLevelFilter(logLevel)
  if (filter !== undefined && 'problem' in filter) refuse('logLevel', filter.problem)
  return problems
}

class EnvironmentReader {
  readonly problems: Problem[] = []
  readonly #environment: Environment

  constructor(environment: Environment) {
    this.#environment = environment
  }

  get(name: string): string | undefined {
    const value = this.#environment[PREFIX + name] ?? this.#environment[name]
    return value === undefined || value.trim() === '' ? undefined : value.trim()
  }

  /** Separated by commas or white space. */
  list(name: string): string[] | undefined {
    return this.get(name)?.split(/[\s,]+/)
  }

  refuse(name: string, expected: string): undefined {
    this.problems.push({
      path: this.#environment[PREFIX + name] === undefined ? name : PREFIX + name,
      reason: 'InvalidEnvironment',
      message: `the environment variable must be ${expected}`,
      severity: 'error',
    })
    return undefined
  }

  flag(name: string, unset: boolean): boolean {
    const value = this.get(name)
    if (value === undefined) return unset
    if (value === 'true' || value === '1') return true
    if (value === 'false' || value === '0') return false
    this.refuse(name, 'true or false')
    return unset
  }

  one<T extends string>(name: string, allowed: readonly T[], unset: T): T {
    const value = this.get(name)
    if (value === undefined) return unset
    return allowed.find((each) => each === value) ?? this.refuse(name, `one of ${allowed.join(', ')}`) ?? unset
  }

  count(name: string): number | undefined {
    const value = this.get(name)
    if (value === undefined) return undefined
    return /^\d{1,6}$/.test(value) && Number(value) > 0 ? Number(value) : this.refuse(name, 'a positive whole number')
  }

  /** A whole number of up to ten digits, 0 included. */
  number(name: string): number | undefined {
    const value = this.get(name)
    if (value === undefined) return undefined
    return /^\d{1,10}$/.test(value) ? Number(value) : this.refuse(name, 'a whole number')
  }

  /** 0 to 100. */
  percentage(name: string): number | undefined {
    const value = this.get(name)
    if (value === undefined) return undefined
    return /^\d{1,3}$/.test(value) && Number(value) <= 100 ? Number(value) : this.refuse(name, 'a number from 0 to 100')
  }

  /** `10s`, `500ms`, `2m`; a bare number is seconds. */
  durationMs(name: string): number | undefined {
    const value = this.get(name)
    if (value === undefined) return undefined
    const outcome = parseDuration(/^\d+$/.test(value) ? `${value}s` : value)
    return 'ms' in outcome ? outcome.ms : this.refuse(name, 'a duration such as 10s or 500ms')
  }

  /** `10.0.0.0/8, ::1` */
  addressRanges(name: string): readonly string[] {
    const ranges = this.get(name)?.split(/[\s,]+/) ?? []
    if (ranges.every(isAddressRange)) return ranges
    this.refuse(name, 'a list of addresses and networks, for example 10.0.0.0/8,::1')
    return []
  }

  /** `/run/app,/run/other/app.sock` */
  unixPaths(name: string): readonly string[] {
    const paths = this.get(name)?.split(/[\s,]+/) ?? []
    if (paths.every(isUnixPath)) return paths
    this.refuse(name, 'a list of absolute paths of sockets or folders, for example /run/app,/run/other/app.sock')
    return []
  }

  /** `host:port`, `[v6]:port`, `localhost:port`. */
  address(name: string, unset: ListenAddress): ListenAddress {
    const value = this.get(name)
    if (value === undefined) return unset
    const parts = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(value)
    const host = parts?.[1] ?? parts?.[2]
    const port = Number(parts?.[3] ?? -1)
    if (host !== undefined && port >= 0 && port <= 65_535) return { host, port }
    this.refuse(name, 'host:port, for example localhost:15000 or [::]:15020')
    return unset
  }
}

function bodyIdleTimeout(source: EnvironmentReader): number {
  const ms = source.durationMs('BODY_IDLE_TIMEOUT') ?? DEFAULT_LIMITS.bodyIdleTimeoutMs
  return ms === 0 ? Infinity : ms
}

function workerCount(source: EnvironmentReader): number {
  const count = source.count('WORKER_THREADS') ?? source.count('CPU_LIMIT') ?? availableParallelism()
  return Math.min(count, WORKERS_MAX)
}

function logLevelOf(source: EnvironmentReader): string {
  const value = source.get('LOG')
  if (value === undefined) return 'info'
  const filter = parseLevelFilter(value)
  if (!('problem' in filter)) return value
  source.refuse('LOG', `a list of <level> or <module>=<level>: ${filter.problem}; ${LEVEL_NAMES}`)
  return 'info'
}

function sessionKeysOf(source: EnvironmentReader): readonly Uint8Array[] | undefined {
  const value = source.get('SESSION_KEY')
  if (value === undefined) return undefined
  // The value itself must not show up anywhere.
  return parseSessionKeys(value) ?? source.refuse('SESSION_KEY', SESSION_KEYS_RULE)
}

function sessionTtlOf(source: EnvironmentReader): number {
  const ms = source.durationMs('MCP_SESSION_TTL') ?? MCP_SESSION_TTL_MS
  return (ms < MCP_SESSION_TTL_MS_MIN ? source.refuse('MCP_SESSION_TTL', 'a duration of at least 1s') : ms) ?? ms
}

/** Pods are reached from loopback addresses by proxies beside them, and by no browser. */
function mcpAccessOf(source: EnvironmentReader): McpAccess {
  const list = (name: string): string[] | undefined => source.list(name)?.map((text) => text.toLowerCase())
  const anyHostIn = source.get('POD_NAME') === undefined ? [] : ['*']
  const hosts = list('MCP_ALLOWED_HOSTS') ?? anyHostIn
  const origins = list('MCP_ALLOWED_ORIGINS') ?? []
  if (!hosts.every((host) => host === '*' || HOST_NAME.test(host))) {
    source.refuse('MCP_ALLOWED_HOSTS', 'a list of host names without ports, for example mcp.example.com, or *')
  }
  if (!origins.every((origin) => origin === '*' || parseOrigin(origin) !== undefined)) {
    source.refuse('MCP_ALLOWED_ORIGINS', 'a list of origins, for example https://app.example.com, or *')
  }
  const redirectUris = source.list('MCP_REDIRECT_URIS')
  if (redirectUris?.every(isRedirectEntry) === false) {
    source.refuse('MCP_REDIRECT_URIS', 'a list of URIs, for example https://app.example.com/callback, or *')
  }
  return { hosts, origins, redirectUris }
}

/** LOCALITY: `region/zone/subzone`; any part may be left empty, later ones out. */
function placeOf(source: EnvironmentReader): Locality {
  const parts = source.get('LOCALITY')?.split('/') ?? []
  if (parts.length > LOCALITY_PARTS_MAX || parts.some((part) => part.trim() !== part))
    source.refuse('LOCALITY', 'region/zone/subzone, for example eu-1/eu-1a or /eu-1a')
  const [region, zone, subzone] = parts.map((part) => (part === '' ? undefined : part))
  const place = { region, zone, subzone, node: source.get('NODE_NAME'), cluster: source.get('CLUSTER_ID') }
  return { ...place, network: source.get('NETWORK') }
}

/** Data-plane supplement, section 6.7. */
function drainTimes(source: EnvironmentReader): ProxySettings['drain'] {
  const minMs = source.durationMs('CONNECTION_MIN_TERMINATION_DEADLINE') ?? 0
  const graceMs = source.durationMs('TERMINATION_GRACE_PERIOD_SECONDS')
  const maxMs = source.durationMs('CONNECTION_TERMINATION_DEADLINE') ?? graceDeadline(graceMs) ?? DRAIN_MAX_MS
  return { minMs, maxMs: Math.max(minMs, maxMs) }
}

function graceDeadline(graceMs: number | undefined): number | undefined {
  if (graceMs === undefined) return undefined
  const reserve = graceMs <= GRACE_SHORT_SECONDS * 1000 ? 1 : GRACE_RESERVE_SECONDS
  return Math.max(1000, graceMs - reserve * 1000)
}
