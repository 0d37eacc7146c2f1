// The ServiceAccount that the operator runs as, as the API server reports it. It owns the objects that the operator
// creates for itself (Lease, fetched key sets), so that they are deleted with it however Gw is uninstalled.
import { Effect, Schedule } from 'effect'
import { recordOf } from '#api/json.ts'
import type { OwnerReference } from '#api/kube/object-meta.ts'
import { KubeClient } from './client.ts'
import { describeKubeError } from './errors.ts'
import { SELF_SUBJECT_REVIEWS } from './resources.ts'

const TRIES = 5

/** Empty if it is not a ServiceAccount of this namespace: an owner in another namespace counts as deleted. */
export const ownAccount: (namespace: string) => Effect.Effect<readonly OwnerReference[], never, KubeClient> = Effect.fn(
  'operator.ownAccount',
)(
  function* (namespace: string) {
    const client = yield* KubeClient
    const question = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: { name: 'gw' } }
    return ownersIn(yield* client.create(question, SELF_SUBJECT_REVIEWS, 'gw'), namespace)
  },
  (effect) =>
    effect.pipe(
      Effect.retry({
        schedule: Schedule.spaced('5 seconds'),
        times: TRIES,
        while: ({ _tag }) => _tag !== 'KubeNotFound',
      }),
      Effect.catch((error) =>
        Effect.as(Effect.logDebug('cannot determine the own service account', describeKubeError(error)), []),
      ),
    ),
)

export function ownersIn(review: unknown, namespace: string): readonly OwnerReference[] {
  const { username, uid } = recordOf(recordOf(recordOf(review)['status'])['userInfo'])
  const prefix = `system:serviceaccount:${namespace}:`
  if (typeof username !== 'string' || !username.startsWith(prefix) || typeof uid !== 'string' || uid === '') return []
  return [{ apiVersion: 'v1', kind: 'ServiceAccount', name: username.slice(prefix.length), uid }]
}
