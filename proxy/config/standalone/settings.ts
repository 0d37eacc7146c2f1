// Settings of the process in a standalone file, read once at startup.
import { probesOf } from '#api/ir/keepalive.ts'
import type { LookupFamily } from '#api/units/lookup-family.ts'
import { CONNECTION_DEFAULTS, type ConnectionDefaults } from '../../upstream/connection-defaults.ts'
import { renderKeepalive } from './build/keepalive.ts'
import type { ConfigFields, StandaloneFile } from './schema/file.ts'
import { hboneVariables } from './schema/process-connections.ts'
import type { Address } from './schema/values.ts'

export interface StandaloneSettings {
  readonly admin: Address | undefined
  readonly stats: Address | undefined
  readonly readiness: Address | undefined
  readonly workers: number | undefined
  readonly logLevel: string | undefined
  readonly logFormat: 'text' | 'json' | undefined
  readonly dnsLookupFamily: LookupFamily | undefined
  /** Each has 32 bytes: the first one seals, all can open. Secrets. */
  readonly sessionKeys: readonly Uint8Array[] | undefined
  readonly mcpSessionTtlMs: number | undefined
  readonly connections: ConnectionDefaults | undefined
  /** Variables of the environment that have these values unless they are set. */
  readonly environment: Readonly<Record<string, string>>
}

export function settingsOf({
  config = {},
  frontendPolicies: { accessLog, logging } = {},
}: Pick<StandaloneFile, 'config' | 'frontendPolicies'>): StandaloneSettings {
  return {
    admin: config.adminAddr,
    stats: config.statsAddr,
    readiness: config.readinessAddr,
    workers: config.workerThreads,
    logLevel: config.logging?.level,
    logFormat: config.logging?.format ?? (accessLog ?? logging)?.format,
    dnsLookupFamily: config.dns?.lookupFamily,
    sessionKeys: config.session?.key,
    mcpSessionTtlMs: config.mcp?.sessionTtl,
    connections: connectionsOf(config.backend),
    environment: environmentOf(config),
  }
}

/** undefined: the file does not set any. */
function connectionsOf(backend: ConfigFields['backend']): ConnectionDefaults | undefined {
  if (backend === undefined) return undefined
  const { keepalives, connectTimeout, poolIdleTimeout, poolMaxSize } = backend
  const { connectTimeoutMs, keepalive, idleTimeoutMs } = CONNECTION_DEFAULTS
  return {
    connectTimeoutMs: connectTimeout ?? connectTimeoutMs,
    keepalive: probesOf(keepalives && renderKeepalive(keepalives), keepalive),
    idleTimeoutMs: poolIdleTimeout ?? idleTimeoutMs,
    idleMax: poolMaxSize,
  }
}

function environmentOf(config: ConfigFields): Readonly<Record<string, string>> {
  const { connectionTerminationDeadline: max, connectionMinTerminationDeadline: min } = config
  const variables = {
    CONNECTION_TERMINATION_DEADLINE: max === undefined ? undefined : `${max}ms`,
    CONNECTION_MIN_TERMINATION_DEADLINE: min === undefined ? undefined : `${min}ms`,
    NETWORK: config.network,
    CLUSTER_ID: config.clusterId,
    NAMESPACE: config.namespace,
    GATEWAY: config.gateway,
    CA_ADDRESS: config.caAddress,
    TRUST_DOMAIN: config.trustDomain,
    ADDITIONAL_TRUST_DOMAINS: config.additionalTrustDomains?.join(','),
    SKIP_VALIDATE_TRUST_DOMAIN: config.skipValidateTrustDomain?.toString(),
    SERVICE_ACCOUNT: config.serviceAccount,
    ...hboneVariables(config.hbone),
  }
  return Object.fromEntries(
    Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}
