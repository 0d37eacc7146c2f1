// Fetches the content of objects that are kept bare, until each is complete or deleted.
import { Duration, Effect } from 'effect'
import type { KubeObject } from '../translate/kube.ts'
import { namespaceOf } from '../translate/object-ref.ts'
import type { ObjectCache } from './cache.ts'
import { KubeClient } from './client.ts'
import { isBare } from './contents.ts'
import { describeKubeError, type KubeError } from './errors.ts'
import { waitMs } from './reflector.ts'
import { resourceOf } from './resources.ts'

/** The API server handles as many at a time without delaying others. */
const FETCHES_AT_ONCE = 32

interface Failed {
  readonly object: KubeObject
  readonly error: KubeError
}

/** Those that fail are fetched again after a delay, when all others have been tried. */
export const fetchContents = Effect.fn('operator.fetchContents')(function* (
  cache: ObjectCache,
  objects: readonly KubeObject[],
) {
  let rest = objects
  for (let failures = 1; ; failures++) {
    const results = yield* Effect.forEach(rest, (object) => fetchOne(cache, object), { concurrency: FETCHES_AT_ONCE })
    const failed = results.filter((one) => one !== undefined)
    const [first] = failed
    if (first === undefined) return
    const count = `${failed.length} of ${objects.length} Secrets and ConfigMaps were not fetched`
    yield* Effect.logWarning(count, describeKubeError(first.error))
    yield* Effect.sleep(Duration.millis(yield* waitMs(failures, first.error)))
    rest = failed.map(({ object }) => object)
  }
})

const fetchOne = Effect.fnUntraced(function* (cache: ObjectCache, object: KubeObject) {
  const { kind, metadata } = object
  const namespace = namespaceOf(object)
  const isLacking = (): boolean => isBare(cache.get(kind, namespace, metadata.name))
  const resource = resourceOf(object)
  // A watch may have brought the content meanwhile.
  if (resource === undefined || !isLacking()) return undefined
  const client = yield* KubeClient
  const fetched = client.get(resource, namespace, metadata.name).pipe(
    Effect.map((found) => cache.put(kind, found)),
    Effect.catchTag('KubeNotFound', () =>
      Effect.sync(() => {
        if (isLacking()) cache.remove(kind, object)
      }),
    ),
  )
  return yield* Effect.match(fetched, {
    onFailure: (error): Failed | undefined => ({ object, error }),
    onSuccess: () => undefined,
  })
})
