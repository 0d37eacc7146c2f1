// Settings of the process from flags, environment and standalone file, in this order. `gw run` serves on loopback
// by default.
import type { ProviderFlags } from './quickstart.ts'
import type { ProxyOptions } from '#proxy/main.ts'
import { LEVEL_NAMES, parseLevelFilter } from '#proxy/log/level-filter.ts'
import type { StandaloneSettings } from '#proxy/config/standalone/settings.ts'

type Environment = Readonly<Record<string, string | undefined>>

const PREFIX = 'GW_'
const PORT_MAX = 65_535

interface Server {
  readonly flag: string
  readonly variable: string
  readonly given: string | undefined
  readonly file: ProxyOptions['admin']
  readonly port: number
}

/** Flags of `gw run` as the parser gives them; undefined: not given. */
export interface RunFlags extends ProviderFlags {
  readonly listenAddress: string
  readonly adminAddr?: string
  readonly statsAddr?: string
  readonly readinessAddr?: string
  readonly workers?: number
  readonly logFormat?: 'text' | 'json'
  readonly logLevel?: string
  readonly accessLog: boolean
}

export function optionsOf(
  flags: RunFlags,
  settings: StandaloneSettings | undefined,
  environment: Environment,
): ProxyOptions | { readonly problem: string } {
  const servers: { [K in 'admin' | 'stats' | 'readiness']: Server } = {
    admin: serverOf('admin', flags.adminAddr, settings?.admin, 15_000),
    stats: serverOf('stats', flags.statsAddr, settings?.stats, 15_020),
    readiness: serverOf('readiness', flags.readinessAddr, settings?.readiness, 15_021),
  }
  const problem = Object.values(servers).find(({ given }) => given !== undefined && parseAddress(given) === undefined)
  if (problem !== undefined) return { problem: `${problem.flag} ${problem.given}: must be host:port` }
  const levels = flags.logLevel === undefined ? undefined : parseLevelFilter(flags.logLevel)
  if (levels !== undefined && 'problem' in levels) return { problem: `--log-level: ${levels.problem}; ${LEVEL_NAMES}` }
  const file = fromFile(settings, environment)
  return {
    listenAddress: flags.listenAddress,
    workers: flags.workers ?? file.workers,
    logFormat: flags.logFormat ?? file.logFormat,
    logLevel: flags.logLevel ?? file.logLevel,
    accessLog: flags.accessLog ? undefined : false,
    dnsLookupFamily: file.dnsLookupFamily,
    sessionKeys: file.sessionKeys,
    mcpSessionTtlMs: file.mcpSessionTtlMs,
    connections: file.connections,
    admin: addressOf(servers.admin, environment),
    stats: addressOf(servers.stats, environment),
    readiness: addressOf(servers.readiness, environment),
  }
}

/** The format in which `gw run` itself prints: the same as the log of its proxy. */
export function logFormatOf(
  { logFormat }: RunFlags,
  settings: StandaloneSettings | undefined,
  environment: Environment,
): 'text' | 'json' {
  const given = environment[`${PREFIX}LOG_FORMAT`] ?? environment['LOG_FORMAT']
  if (logFormat !== undefined || given === undefined || given.trim() === '') {
    return logFormat ?? settings?.logFormat ?? 'text'
  }
  return given.trim() === 'json' ? 'json' : 'text'
}

/** Without the settings of the environment: the proxy reads them itself. */
function fromFile(settings: StandaloneSettings | undefined, environment: Environment): Partial<StandaloneSettings> {
  const unlessSet = <T>(value: T, ...variables: string[]): T | undefined =>
    variables.some((name) => isSet(name, environment)) ? undefined : value
  return {
    workers: unlessSet(settings?.workers, 'WORKER_THREADS', 'CPU_LIMIT'),
    logFormat: unlessSet(settings?.logFormat, 'LOG_FORMAT'),
    logLevel: unlessSet(settings?.logLevel, 'LOG'),
    dnsLookupFamily: unlessSet(settings?.dnsLookupFamily, 'DNS_LOOKUP_FAMILY'),
    sessionKeys: unlessSet(settings?.sessionKeys, 'SESSION_KEY'),
    mcpSessionTtlMs: unlessSet(settings?.mcpSessionTtlMs, 'MCP_SESSION_TTL'),
    connections: settings?.connections,
  }
}

function serverOf(name: string, given: string | undefined, file: ProxyOptions['admin'], port: number): Server {
  return { flag: `--${name}-addr`, variable: `${name.toUpperCase()}_ADDR`, given, file, port }
}

function addressOf({ variable, given, file, port }: Server, environment: Environment): ProxyOptions['admin'] {
  if (given !== undefined) return parseAddress(given)
  return isSet(variable, environment) ? undefined : (file ?? { host: 'localhost', port })
}

function isSet(name: string, environment: Environment): boolean {
  const value = environment[PREFIX + name] ?? environment[name]
  return value !== undefined && value.trim() !== ''
}

function parseAddress(text: string): { host: string; port: number } | undefined {
  const parts = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text)
  const port = Number(parts?.[3])
  if (parts === null || port > PORT_MAX) return undefined
  return { host: parts[1] ?? parts[2] ?? '', port }
}
