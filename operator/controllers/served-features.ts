// Which features of the Gateway API the kinds in this cluster have no field for: the standard channel lacks some fields
// of the experimental one, and the API server drops unknown fields. The class must not claim these features.
import { Effect } from 'effect'
import { recordOf } from '#api/json.ts'
import { KubeClient } from '../kube/client.ts'
import { lookAgainAndAgain } from './look-again.ts'

interface FieldFeatures {
  readonly kind: string
  /** Below the schema of the kind; `[]` are the items of a list. */
  readonly field: readonly string[]
  readonly features: readonly string[]
}

const OF_FIELDS: readonly FieldFeatures[] = [
  {
    kind: 'HTTPRoute',
    field: ['spec', 'rules', '[]', 'retry'],
    features: ['HTTPRouteRetry', 'HTTPRouteRetryBackendTimeout', 'HTTPRouteRetryConnectionError'],
  },
]

/** Until the API server has reported its fields. */
export const FEATURES_OF_FIELDS: ReadonlySet<string> = new Set(OF_FIELDS.flatMap(({ features }) => features))

const ROOT = '/openapi/v3'
const GROUP = 'apis/gateway.networking.k8s.io/v1'

/** Polls, and reports when the answer changed. The document is large: it is read only when its hash changed. */
export const followUnservedFeatures = Effect.fn('operator.followFeatures')(function* (
  report: (unserved: ReadonlySet<string>) => void,
) {
  let seen: string | undefined
  const look = Effect.gen(function* () {
    const client = yield* KubeClient
    const path = pathOf(yield* client.document(ROOT))
    if (path === undefined || path === seen) return
    report(unservedFeatures(yield* client.document(path)))
    seen = path
  })
  return yield* lookAgainAndAgain('kinds', look)
})

/** By an OpenAPI v3 document of the group. */
export function unservedFeatures(document: unknown): ReadonlySet<string> {
  const schemas = Object.values(recordOf(recordOf(recordOf(document)['components'])['schemas']))
  const isServed = ({ kind, field }: FieldFeatures): boolean =>
    schemas.some((schema) => isOfKind(schema, kind) && hasField(schema, field))
  return new Set(OF_FIELDS.filter((one) => !isServed(one)).flatMap(({ features }) => features))
}

function isOfKind(schema: unknown, kind: string): boolean {
  const names = recordOf(schema)['x-kubernetes-group-version-kind']
  return Array.isArray(names) && names.some((name) => recordOf(name)['kind'] === kind)
}

function hasField(schema: unknown, [first, ...rest]: readonly string[]): boolean {
  if (first === undefined) return schema !== undefined
  const { items, properties } = recordOf(schema)
  return hasField(first === '[]' ? items : recordOf(properties)[first], rest)
}

/** The path of the document of our group; it contains the hash. */
function pathOf(root: unknown): string | undefined {
  const path = recordOf(recordOf(recordOf(root)['paths'])[GROUP])['serverRelativeURL']
  return typeof path === 'string' ? path : undefined
}
