// Settings of the process in a standalone file, read once at startup.
import type { LookupFamily } from '#api/units/lookup-family.ts'
import type { StandaloneFile } from './schema/file.ts'
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
  }
}
