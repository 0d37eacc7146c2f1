// Which Gateway owns an object. Objects of users or of other Gateways are never written, whatever their name.
import { GATEWAY_NAME_LABEL, safeName } from '#api/delivery/names.ts'
import { CLASS_NAME_LABEL, MANAGED_BY_LABEL } from '#deployer/labels.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { KubeObject } from '../translate/kube.ts'
import { nameKey } from '../translate/object-ref.ts'

/**
 * Whether the object belongs to this Gateway. An object without its owner reference still does while it has the labels
 * that only the operator sets; an object that another object controls never does.
 */
export function isOwnedBy({ kind, metadata }: KubeObject, gateway: Gateway): boolean {
  const controller = metadata.ownerReferences?.find((owner) => owner.controller === true)
  if (controller !== undefined) return controller.uid === gateway.metadata.uid
  const { labels = {} } = metadata
  if (labels[GATEWAY_NAME_LABEL] !== safeName(gateway.metadata.name)) return false
  const manager = labels[MANAGED_BY_LABEL]
  // Version 0.1.0 created session keys without this label. They are never written again, and may come from a backup.
  const isFormerKey = kind === 'Secret' && manager === undefined && Object.hasOwn(labels, CLASS_NAME_LABEL)
  return manager === 'gw' || isFormerKey
}

/** For the status of the Gateway: which object has the same name, and what to do. */
export function notOwned({ kind, name }: { readonly kind: string; readonly name: string }): string {
  return `${kind} ${name} does not belong to this Gateway and is not changed; rename or delete it, or rename the Gateway`
}

/** `namespace/name` of the Gateway that an object belongs to. */
export function ownerOf({ metadata }: KubeObject): string | undefined {
  const owner = metadata.ownerReferences?.find(({ kind, controller }) => kind === 'Gateway' && controller === true)
  return owner === undefined ? undefined : nameKey(metadata.namespace ?? '', owner.name)
}
