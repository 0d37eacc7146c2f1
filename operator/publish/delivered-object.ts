// Objects of a delivery in the form of the API server. Pure.
import type { Files } from '#api/delivery/document.ts'
import type { DeliveredObject } from '#api/delivery/encode.ts'
import { deliveryLabels, type DeliveryPart } from '#api/delivery/names.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { OwnerReference } from '#api/kube/object-meta.ts'
import type { KubeObject } from '../translate/kube.ts'

export function toKubeObject({ kind, part, name, files }: DeliveredObject, gateway: Gateway): KubeObject {
  const all = [...files]
  const base = { apiVersion: 'v1', kind, metadata: metadataOf(gateway, name, part) }
  return { ...base, ...(kind === 'Secret' ? secretContent(all) : configMapContent(all)) }
}

type Entry = [string, Uint8Array]

function secretContent(files: readonly Entry[]): object {
  return { type: 'Opaque', data: Object.fromEntries(files.map(([file, bytes]) => [file, base64(bytes)])) }
}

function configMapContent(files: readonly Entry[]): object {
  const isText = ([file]: Entry): boolean => file.endsWith('.json')
  const data = files.filter(isText).map(([file, bytes]) => [file, Buffer.from(bytes).toString('utf8')])
  const binary = files.filter((entry) => !isText(entry)).map(([file, bytes]) => [file, base64(bytes)])
  return {
    data: Object.fromEntries(data),
    ...(binary.length > 0 && { binaryData: Object.fromEntries(binary) }),
  }
}

/** Created once by the operator; its data belongs to the proxies. */
export function acknowledgementObject(gateway: Gateway, name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadataOf(gateway, name, 'acknowledgements') }
}

function metadataOf(gateway: Gateway, name: string, part: DeliveryPart): KubeObject['metadata'] {
  const { name: gatewayName, namespace = '', uid = '' } = gateway.metadata
  const owner: OwnerReference = {
    apiVersion: gateway.apiVersion,
    kind: 'Gateway',
    name: gatewayName,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  }
  return { name, namespace, labels: deliveryLabels(gatewayName, part), ownerReferences: [owner] }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}

export function filesOfObject(object: KubeObject): Files {
  // ConfigMap or Secret.
  const { data, binaryData } = object as { data?: Record<string, string>; binaryData?: Record<string, string> }
  const files: Files = new Map()
  const encoding = object.kind === 'Secret' ? 'base64' : 'utf8'
  for (const [name, text] of Object.entries(data ?? {})) files.set(name, Buffer.from(text, encoding))
  for (const [name, text] of Object.entries(binaryData ?? {})) files.set(name, Buffer.from(text, 'base64'))
  return files
}
