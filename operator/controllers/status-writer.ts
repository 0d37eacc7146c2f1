// Writes the computed status of an object: only if it differs, without changing the entries of other controllers, and
// again from a fresh read after a conflict.
import { Clock, Effect } from 'effect'
import type { ObjectCache } from '../kube/cache.ts'
import { KubeClient } from '../kube/client.ts'
import { KubeConflict } from '../kube/errors.ts'
import { resourceOf } from '../kube/resources.ts'
import { statusOf } from '../kube/status-of.ts'
import { mergeStatus } from '../status/merge.ts'
import type { ObjectStatus } from '../translate/object-status.ts'
import type { KubeObject } from '../translate/kube.ts'

export interface StatusWriterOptions {
  readonly cache: ObjectCache
  readonly controllerName: string
  /** undefined: no status for this object. */
  readonly desired: (kind: string, key: string) => ObjectStatus | undefined
  readonly onWritten: () => void
}

const ATTEMPTS_MAX = 5
const PAUSE = '100 millis'

/** The work of the status queue, by keys of `describe`; done if the object is gone or already has the status. */
export function statusWriter(options: StatusWriterOptions) {
  return Effect.fn('operator.writeStatus')(function* (queueKey: string) {
    const space = queueKey.indexOf(' ')
    const [kind, key] = [queueKey.slice(0, space), queueKey.slice(space + 1)]
    for (let attempt = 1; ; attempt++) {
      const outcome = yield* writeOnce(options, kind, key).pipe(
        Effect.catchTag('KubeConflict', (error) =>
          attempt < ATTEMPTS_MAX ? Effect.as(refresh(options, kind, key), 'again' as const) : Effect.fail(error),
        ),
        // The object was deleted meanwhile.
        Effect.catchTag('KubeNotFound', () => Effect.succeed('done' as const)),
      )
      if (outcome === 'done') return
      yield* Effect.sleep(PAUSE)
    }
  })
}

const writeOnce = Effect.fnUntraced(function* (options: StatusWriterOptions, kind: string, key: string) {
  const { cache, controllerName, desired, onWritten } = options
  const client = yield* KubeClient
  const wanted = desired(kind, key)
  const current = cachedObject(cache, kind, key)
  const resource = wanted && resourceOf(wanted)
  if (wanted === undefined || current === undefined || resource === undefined) return 'done' as const
  const now = new Date(yield* Clock.currentTimeMillis).toISOString().replace(/\.\d+Z$/, 'Z')
  const status = mergeStatus({ current: statusOf(current), desired: wanted.status, controllerName, now })
  if (status === undefined) return 'done' as const
  const { namespace, name } = wanted
  const { resourceVersion, uid } = current.metadata
  // With the version the server rejects a result that was merged with an older status.
  const body = { metadata: { resourceVersion, uid }, status }
  const written = yield* client.patch({ resource, namespace, name, isStatus: true }, body)
  cache.update(kind, written)
  onWritten()
  return 'done' as const
})

const refresh = Effect.fnUntraced(function* ({ cache }: StatusWriterOptions, kind: string, key: string) {
  const client = yield* KubeClient
  const current = cachedObject(cache, kind, key)
  const resource = current && resourceOf(current)
  if (current === undefined || resource === undefined) {
    return yield* new KubeConflict({ path: key, reason: 'Gone', message: 'no longer known' })
  }
  const { namespace = '', name } = current.metadata
  cache.update(kind, yield* client.get(resource, namespace, name))
  return undefined
})

/** `key`: `namespace/name` */
export function cachedObject(cache: ObjectCache, kind: string, key: string): KubeObject | undefined {
  const slash = key.indexOf('/')
  return cache.get(kind, key.slice(0, slash), key.slice(slash + 1))
}
