// Which features of the Gateway API the kinds in this cluster have no field for: the standard channel lacks some fields
// of the experimental one, and the API server drops what it does not know. The class must not promise those.
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

/** Until the API server has told what it has. */
export const FEATURES_OF_FIELDS: ReadonlySet<string> = new Set(OF_FIELDS.flatMap(({ features }) => features))

const ROOT = '/openapi/v3'
const GROUP = 'apis/gateway.networking.k8s.io/v1'

/** Looks now and then, tells when the answer is another one. The document is large: its hash says when to read it. */
export const followUnservedFeatures = Effect.fn('operator.followFeatures')(function* (
  tell: (unserved: ReadonlySet<string>) => void,
) {
  let seen: string | undefined
  const look = Effect.gen(function* () {
    const client = yield* KubeClient
    const path = pathOf(yield* client.document(ROOT))
    if (path === undefined || path === seen) return
    tell(unservedFeatures(yield* client.document(path)))
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

/** Where the document of our group is; the path bears its hash. */
function pathOf(root: unknown): string | undefined {
  const path = recordOf(recordOf(recordOf(root)['paths'])[GROUP])['serverRelativeURL']
  return typeof path === 'string' ? path : undefined
}
