// What each worker gets of the settings of the process.
import { randomBytes } from 'node:crypto'
import { SESSION_KEY_BYTES } from '../mcp/legacy/session-keys.ts'
import type { ProxySettings } from './settings.ts'
import type { WorkerOptions } from './worker-pool.ts'

export function workerOptions(
  settings: ProxySettings,
  { tickets, modelTraits }: Required<Pick<WorkerOptions, 'tickets' | 'modelTraits'>>,
): WorkerOptions {
  return {
    workers: settings.workers,
    listenAddress: settings.listenAddress,
    reusePort: settings.workers > 1,
    logFormat: settings.logFormat,
    accessLog: settings.accessLog,
    // One for all workers: ids of MCP sessions are valid until the process ends, but no one else can create or read
    // them.
    sessionKeys: settings.sessionKeys ?? [randomBytes(SESSION_KEY_BYTES)],
    mcpSessionTtlMs: settings.mcpSessionTtlMs,
    mcpAccess: settings.mcpAccess,
    tickets,
    backendAllow: settings.servesTenants ? settings.backendAllow : undefined,
    dynamicForwardAllow: settings.dynamicForwardAllow,
    modelTraits,
    dnsLookupFamily: settings.dnsLookupFamily,
    place: settings.place,
    otlp: settings.otlp,
    overload: settings.overload,
    bodyIdleTimeoutMs: settings.bodyIdleTimeoutMs,
    meshTunnelPort: settings.mesh?.tunnelPort,
    hbone: settings.hbone,
    connections: settings.connections,
    podName: settings.podName,
    podNamespace: settings.podNamespace,
  }
}
