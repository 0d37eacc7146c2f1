// What the proxies of a Gateway would load now, from the objects in a fake API server. For tests only.
import { type Delivered, DeliveryDecoder } from '#api/delivery/decode.ts'
import { deliveryNames } from '#api/delivery/names.ts'
import type { FakeObject, Store } from './store.ts'

type File = readonly [name: string, content: Uint8Array]

/** undefined: there is no complete delivery. */
export function deliveryOf(store: Store, namespace: string, gateway: string): Delivered | undefined {
  const { config, endpoints, secrets } = deliveryNames(gateway)
  const at = (resource: string) => (name: string) => filesOf(store.get(resource, `${namespace}/${name}`))
  const files = new Map([...[...config, ...endpoints].flatMap(at('configmaps')), ...secrets.flatMap(at('secrets'))])
  const outcome = new DeliveryDecoder().decode((file) => files.get(file))
  return 'delivered' in outcome ? outcome.delivered : undefined
}

/** Text is in `data` of a ConfigMap; all other values are base64. */
function filesOf(object: FakeObject | undefined): File[] {
  // Of these kinds.
  const { data = {}, binaryData = {} } = (object ?? {}) as Record<string, Record<string, string> | undefined>
  const encoding = object?.kind === 'Secret' ? 'base64' : 'utf8'
  return [
    ...Object.entries(data).map(([file, text]): File => [file, Buffer.from(text, encoding)]),
    ...Object.entries(binaryData).map(([file, text]): File => [file, Buffer.from(text, 'base64')]),
  ]
}
