// The rendered configuration that serves nothing: where builders begin.
import type { RenderedConfig } from './types.gen.ts'

/** A new one for each caller: builders fill its lists. */
export function emptyConfig(): RenderedConfig {
  return {
    version: 2,
    binds: [],
    listeners: [],
    routes: [],
    tcpRoutes: [],
    backends: [],
    policies: [],
    services: [],
    workloads: [],
  }
}
