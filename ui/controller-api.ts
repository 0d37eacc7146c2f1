// Calls of the admin server of a controller, which serves this page.
import type { ControllerOverview, GatewayDetail } from '#api/admin/controller-overview.ts'
import { policiesInForce, type Translated, translatedDump } from '#cli/proxy/translated-dump.ts'
import { ApiError, ask, type Dump } from './api.ts'
import type { ConfigurationSource } from './configuration-source.ts'

/** What the page shows of one Gateway. */
export interface GatewayView extends GatewayDetail {
  /** As the controller has translated it. */
  readonly dump: Dump
  readonly source: ConfigurationSource
}

export async function clusterOverview(signal: AbortSignal): Promise<ControllerOverview> {
  return (await (await ask('overview', { signal })).json()) as ControllerOverview // of the same program
}

/** Reads one Gateway again and again, and its configuration only after a change. `key`: `namespace/name`. */
export function gatewayReader(key: string): (signal: AbortSignal) => Promise<GatewayView> {
  const query = new URLSearchParams({ name: key }).toString()
  let known: (Pick<GatewayView, 'dump' | 'source'> & { readonly revision: string }) | undefined
  return async (signal) => {
    const detail = (await (await ask(`gateway?${query}`, { signal })).json()) as GatewayDetail // of the same program
    const { revision } = detail.gateway
    if (known?.revision !== revision) {
      const config = (await (await ask(`configuration?${query}`, { signal })).json()) as Translated // the same
      known = { revision, dump: translatedDump(config), source: sourceOf(config, key) }
    }
    return { ...detail, dump: known.dump, source: known.source }
  }
}

function sourceOf(config: Translated, key: string): ConfigurationSource {
  return {
    target: targetOf(key),
    policiesInForce: (route) => {
      const found = policiesInForce(config, route)
      if (found !== undefined) return Promise.resolve(found)
      return Promise.reject(new ApiError('the configuration has no such rule any more'))
    },
  }
}

/** Arguments of `gw` for the Gateway `namespace/name`. */
export function targetOf(key: string): string {
  const [namespace = '', name = ''] = key.split('/')
  return `gateway/${name} -n ${namespace}`
}
