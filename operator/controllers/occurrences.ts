// The problems that Events report: every problem of translation, and the problems of each Gateway after it.
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import { printable } from '#api/printable.ts'
import type { DeployProblem } from '#deployer/input.ts'
import { problemLine } from '../status/condition.ts'
import { type LeftOutUse, NOT_DELIVERED, notDeliveredText } from '../status/left-out-secrets.ts'
import type { KubeObject } from '../translate/kube.ts'
import { type ObjectRef, refOf } from '../translate/object-ref.ts'
import type { Translation } from '../translate/translation.ts'
import { whyUnattended } from './abandoned.ts'
import type { Occurrence } from './events.ts'
import { gatewayStatusFacts } from './gateway-facts.ts'
import { deployProblemLine, meshTroubleText, troubleText } from './gateway-programmed.ts'
import { acknowledgementsOf, isLeaving, type World } from './world.ts'

/** Objects that belong together are created one after the other. */
const PASSING_MS = 2000
/** Time to add nodes and to pull images. */
const PASSING_OF_PODS_MS = 30_000

/** Statuses report the same; an object that is deleted has no status. */
export function occurrencesOfProblems(world: World, problems: Translation['problems']): Occurrence[] {
  return problems.flatMap((problem) => {
    const { object, reason } = problem
    const known = world.cache.get(object.kind, object.namespace, object.name)
    const uid = known === undefined || isLeaving(world, known) ? undefined : known.metadata.uid
    return uid === undefined ? [] : [occurrence({ ...object, uid }, reason, printable(problemLine(problem)))]
  })
}

export interface GatewayTroubles {
  readonly gateway: Gateway
  readonly deployProblems: readonly DeployProblem[]
  /** Why objects could not be written. */
  readonly failure: string | undefined
  /** Which Secrets are not delivered, and what to do. */
  readonly leftOut?: string | undefined
  /** Which parts of the delivery have little room left. */
  readonly nearlyFull?: string | undefined
}

export function occurrencesOfGateway(
  world: World,
  { gateway, deployProblems, failure, leftOut, nearlyFull }: GatewayTroubles,
): Occurrence[] {
  const { uid } = gateway.metadata
  if (uid === undefined) return []
  const object = { ...refOf(gateway), uid }
  const acknowledgements = acknowledgementsOf(world, gateway)
  const mesh = meshTroubleText(acknowledgements)
  const refusals = [...acknowledgements].flatMap(([pod, { rejected }]) =>
    rejected === undefined ? [] : [`${pod}: ${rejected.message}`],
  )
  const trouble = troubleText(gatewayStatusFacts(world, gateway, { deployProblems, failure }))
  return [
    // A rejection by a proxy does not resolve itself.
    ...refusals.map((message) => ({ object, reason: 'GwNackError', message, afterMs: 0 })),
    ...deployProblems.map((problem) => occurrence(object, problem.reason, printable(deployProblemLine(problem)))),
    ...(failure === undefined ? [] : [occurrence(object, 'DeploymentFailed', failure)]),
    ...(leftOut === undefined ? [] : [occurrence(object, NOT_DELIVERED, leftOut)]),
    ...(nearlyFull === undefined ? [] : [occurrence(object, 'DeliveryNearlyFull', nearlyFull)]),
    ...(trouble === undefined
      ? []
      : [{ object, reason: 'ProxyNotRunning', message: trouble, afterMs: PASSING_OF_PODS_MS }]),
    ...(mesh === undefined
      ? []
      : [{ object, reason: 'MeshNotServed', message: printable(mesh), afterMs: PASSING_OF_PODS_MS }]),
  ]
}

/** Of objects that use Secrets which are not delivered. The Event of the Gateway names all of these Secrets. */
export function occurrencesOfLeftOut(world: World, uses: Iterable<LeftOutUse>): Occurrence[] {
  return [...uses].flatMap((use) => {
    const { kind, namespace, name } = use.user
    const object = kind === 'Gateway' ? undefined : world.cache.get(kind, namespace, name)
    const { uid } = object?.metadata ?? {}
    if (object === undefined || uid === undefined || isLeaving(world, object)) return []
    return [occurrence({ ...refOf(object), uid }, NOT_DELIVERED, printable(notDeliveredText(use)))]
  })
}

/** Of Gateways that were ours and have no class any more. */
export function occurrencesOfUnattended(world: World): Occurrence[] {
  return [...world.cache.all('Gateway')].flatMap((gateway: KubeObject) => {
    const { uid } = gateway.metadata
    const why = uid === undefined ? undefined : whyUnattended(world, gateway)
    return uid === undefined || why === undefined ? [] : [occurrence({ ...refOf(gateway), uid }, 'Pending', why)]
  })
}

function occurrence(object: ObjectRef & { readonly uid: string }, reason: string, message: string): Occurrence {
  return { object, reason, message, afterMs: PASSING_MS }
}
