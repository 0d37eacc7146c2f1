// The objects that concern one Gateway: the Gateway, what is attached to it, and the policies and backends that its
// configuration uses.
import type { ListenerSet } from '#api/gateway/listenerset.gen.ts'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import { nameKey } from '../translate/object-ref.ts'
import type { ObjectStatus, ParentRef } from '../translate/object-status.ts'
import { attachments, objectText, type ReportedCondition } from './reported-conditions.ts'
import type { World } from './world.ts'

export interface ConcernedObjects {
  /** As `Kind namespace/name`. */
  readonly objects: ReadonlySet<string>
  /** Not true of a condition about another Gateway that the same object is attached to. */
  readonly isOfGateway: (condition: ReportedCondition) => boolean
}

/** Kinds that become backends of the configuration, which has no kinds. */
const BACKENDS = ['GwBackend', 'GwModel', 'InferencePool'] as const

/** `key`: `namespace/name` of the Gateway. */
export function concernedObjects(world: World, key: string, config: RenderedConfig): ConcernedObjects {
  const { statuses } = world.translation()
  const gateway = `Gateway ${key}`
  const isAttached = (ref: ParentRef, namespace: string): boolean => parentOf(world, ref, namespace) === gateway
  const objects = new Set([
    gateway,
    ...statuses.filter((one) => isListenerSetOf(world, one, gateway)).map(objectText),
    ...statuses
      .filter(({ status, namespace }) => attachments(status).some(({ ref }) => isAttached(ref, namespace)))
      .map(objectText),
    ...config.policies.map(({ name: { kind, namespace, name } }) => `${kind} ${nameKey(namespace, name)}`),
    ...config.backends.flatMap(({ name: { namespace, name } }) =>
      BACKENDS.map((kind) => `${kind} ${nameKey(namespace, name)}`),
    ),
  ])
  return {
    objects,
    isOfGateway: ({ row, parent, namespace }) => {
      if (!objects.has(row.object)) return false
      const known = parent === undefined ? undefined : parentOf(world, parent, namespace)
      return known === undefined || known === gateway
    },
  }
}

function isListenerSetOf(world: World, { kind, namespace, name }: ObjectStatus, gateway: string): boolean {
  return kind === 'ListenerSet' && parentOf(world, { kind, name }, namespace) === gateway
}

/** `Gateway namespace/name`; undefined: the reference names something else. */
function parentOf({ cache }: World, ref: ParentRef, namespace: string): string | undefined {
  const { kind = 'Gateway', namespace: own = namespace, name } = ref
  if (kind === 'Gateway') return `Gateway ${nameKey(own, name)}`
  if (kind !== 'ListenerSet') return undefined
  // Of its kind in the cache.
  const set = cache.get('ListenerSet', own, name) as ListenerSet | undefined
  const parent = set?.spec.parentRef
  return parent === undefined ? undefined : `Gateway ${nameKey(parent.namespace ?? own, parent.name)}`
}
