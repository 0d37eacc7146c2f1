// The state of a fake cluster for users and proxies, without values that differ from run to run. For tests only.
import { DeliveryDecoder } from '#api/delivery/decode.ts'
import { isRecord } from '#api/json.ts'
import { GATEWAY_NAMES, GATEWAYS, NAMESPACE, POLICIES, ROUTES } from './scenario.ts'
import type { Store } from './store.ts'

/** JSON for comparisons. */
export function visibleState(store: Store): unknown {
  const delivered = GATEWAY_NAMES.map((gateway) => deliveredTo(store, gateway))
  const statuses = [GATEWAYS, ROUTES, POLICIES].flatMap((resource) =>
    store.list(resource).map(({ kind, metadata, status }) => [kind, metadata.name, withoutTimes(status)]),
  )
  const owned = ['deployments.apps', 'services', 'serviceaccounts', 'configmaps', 'secrets'].flatMap((resource) =>
    store.list(resource).map(({ kind, metadata }) => `${kind}/${metadata.name}`),
  )
  return JSON.parse(JSON.stringify({ delivered, statuses, owned }))
}

function deliveredTo(store: Store, gateway: string): unknown {
  if (store.get(GATEWAYS, `${NAMESPACE}/${gateway}`) === undefined) return 'no Gateway'
  const files = new Map<string, Uint8Array>()
  for (const resource of ['configmaps', 'secrets']) {
    for (const found of store.list(resource)) {
      if (!found.metadata.name.startsWith(`${gateway}-`)) continue
      const { data = {} } = found as { data?: Record<string, string> }
      for (const [file, text] of Object.entries(data)) {
        files.set(file, Buffer.from(text, found.kind === 'Secret' ? 'base64' : 'utf8'))
      }
    }
  }
  const decoded = new DeliveryDecoder().decode((file) => files.get(file))
  if (!('delivered' in decoded)) return decoded
  const { index, ...rest } = decoded.delivered
  return { ...rest, index: index.gateway.generation, revision: '' }
}

/**
 * An object that had problems and has none now has an empty list; other objects have no list. Entries stay at the place
 * where they were first written.
 */
function withoutTimes(status: unknown): unknown {
  const { parents, ancestors, ...rest } = { ...(isRecord(status) && status) }
  const entries = [parents, ancestors].flat().filter((entry) => entry !== undefined)
  const inOrder = entries.map((entry) => textWithoutTimes(entry)).sort()
  return [textWithoutTimes(rest), inOrder].flat()
}

function textWithoutTimes(value: unknown): string {
  return JSON.stringify(value, (name, one: unknown) => (name === 'lastTransitionTime' ? '' : one))
}
