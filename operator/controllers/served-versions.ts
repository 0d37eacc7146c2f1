// In which versions the cluster serves the kinds of the Gateway API. Kinds that it serves only in versions that Gw does
// not read would have no objects, without a message: the status of the class and the log report them.
import { Effect } from 'effect'
import { recordOf } from '#api/json.ts'
import { KubeClient } from '../kube/client.ts'
import { type Resource, TRANSLATED } from '../kube/resources.ts'
import { condition } from '../status/condition.ts'
import type { Condition } from '../translate/object-status.ts'
import { GATEWAY_GROUP } from '../translate/groups.ts'
import { lookAgainAndAgain } from './look-again.ts'

/** Versions of each kind of the Gateway API that the cluster serves. */
export type ServedVersions = ReadonlyMap<string, readonly string[]>

const GROUP = `/apis/${GATEWAY_GROUP}`
const VERSIONS_MAX = 16
const CURE = 'install the kinds of Gateway API v1.6.3 (make install-crds)'

const KINDS: readonly Resource[] = Object.values(TRANSLATED).filter(({ group }) => group === GATEWAY_GROUP)

/** Polls, and reports when the answer changed. */
export const followServedVersions = Effect.fn('operator.followVersions')(function* (
  report: (served: ServedVersions) => void,
) {
  let seen = ''
  const look = Effect.gen(function* () {
    const served = yield* lookForVersions()
    const text = JSON.stringify([...served])
    if (text === seen) return
    seen = text
    report(served)
    const { unread, absent } = judge(served)
    if (unread.length > 0) yield* Effect.logWarning('kinds of the Gateway API are ignored', unread.join('; '), CURE)
    if (absent.length > 0) yield* Effect.logInfo('kinds of the Gateway API are not in this cluster', absent.join(', '))
  })
  return yield* lookAgainAndAgain('versions', look)
})

const lookForVersions = Effect.fnUntraced(function* () {
  const client = yield* KubeClient
  const versions = namesOf(yield* client.document(GROUP), 'versions', 'version').slice(0, VERSIONS_MAX)
  const served = new Map<string, string[]>()
  for (const version of versions) {
    for (const kind of new Set(namesOf(yield* client.document(`${GROUP}/${version}`), 'resources', 'kind'))) {
      served.set(kind, [...(served.get(kind) ?? []), version])
    }
  }
  return served
})

/** `SupportedVersion` of a GatewayClass. */
export function supportedVersion(served: ServedVersions, generation: number | undefined): Condition {
  const type = 'SupportedVersion'
  const { unread, absent } = judge(served)
  if (unread.length > 0) {
    const message = `${unread.join('; ')}; objects of these kinds are ignored: ${CURE}`
    return condition({ type, isTrue: false, reason: 'UnsupportedVersion', message, generation })
  }
  const missing = absent.length === 0 ? '' : `; not in this cluster: ${absent.join(', ')}`
  const message = `Gw reads the versions of the Gateway API that the cluster serves${missing}`
  return condition({ type, isTrue: true, reason: type, message, generation })
}

interface Verdict {
  /** With what is served instead. */
  readonly unread: readonly string[]
  readonly absent: readonly string[]
}

function judge(served: ServedVersions): Verdict {
  const unread = KINDS.flatMap(({ kind, version, older = [] }) => {
    const versions = served.get(kind) ?? []
    const known = [version, ...older]
    if (versions.length === 0 || versions.some((one) => known.includes(one))) return []
    return [`${kind} is served as ${versions.join(', ')}, but Gw reads ${known.join(', ')}`]
  })
  return { unread, absent: KINDS.map(({ kind }) => kind).filter((kind) => !served.has(kind)) }
}

/** One text of each item of a list of a discovery document. */
function namesOf(document: unknown, list: string, name: string): string[] {
  const items = recordOf(document)[list]
  if (!Array.isArray(items)) return []
  return items.flatMap((item) => {
    const text = recordOf(item)[name]
    return typeof text === 'string' ? [text] : []
  })
}
