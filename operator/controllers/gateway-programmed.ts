// Facts about a Gateway that translation does not have: whether its objects were written, and whether a proxy has
// loaded its configuration. Changes the two conditions that report this. Pure.
import { isIPv6 } from 'node:net'
import type { Acknowledgement } from '#api/delivery/acknowledgement.ts'
import type { DeployProblem } from '#deployer/input.ts'
import { boundedMessage, condition, MESH_UNAVAILABLE, problemLine, SECRETS_UNAVAILABLE } from '../status/condition.ts'
import { NOT_DELIVERED } from '../status/left-out-secrets.ts'
import type { Condition, GatewayBody } from '../translate/object-status.ts'
import { nameKey } from '../translate/object-ref.ts'

export interface GatewayFacts {
  readonly uid: string
  readonly generation: number
  readonly deployProblems: readonly DeployProblem[]
  /** The IP address that the Gateway requests. */
  readonly wantedAddress: string | undefined
  /** From the current Service. */
  readonly addresses: GatewayBody['addresses']
  readonly hasService: boolean
  /** The status in the cluster has one. */
  readonly hadAddress: boolean
  /** Why objects could not be written. */
  readonly failure: string | undefined
  /** Which Secrets are not delivered, and what to do. */
  readonly leftOut?: string | undefined
  readonly acknowledgements: ReadonlyMap<string, Acknowledgement>
  /** Pods that accept connections; undefined: nothing in this cluster runs the workload, and every proxy counts. */
  readonly readyPods: ReadonlySet<string> | undefined
  /** False until a pod has been ready for long enough that every node routes to it. */
  readonly isAvailable: boolean
  /** Why a proxy does not run, if that is known. */
  readonly trouble: string | undefined
  /** Some proxies run a previous version. */
  readonly isRollingOut: boolean
  /** False when the workload is scaled to zero on purpose. */
  readonly isReplicaExpected: boolean
  /** As it stands in the cluster. */
  readonly current: readonly Condition[]
}

export function withProgrammed(body: GatewayBody, facts: GatewayFacts): GatewayBody {
  const { addresses } = facts
  const conditions = body.conditions.map((one) => adjusted(one, facts))
  return { ...body, addresses, conditions: [...conditions, ...meshCondition(facts), ...secretsCondition(facts)] }
}

/** Proxies without a current certificate of their mesh: connections of the mesh fail, and everything else is served. */
export function meshTroubleText(acknowledgements: GatewayFacts['acknowledgements']): string | undefined {
  const troubles = [...acknowledgements].flatMap(([pod, { meshTrouble }]) =>
    meshTrouble === undefined ? [] : [`${pod}: ${meshTrouble}`],
  )
  const [first] = troubles.sort()
  if (first === undefined) return undefined
  return `${troubles.length} of ${acknowledgements.size} proxies have no current certificate of the mesh. ${first}`
}

function meshCondition({ acknowledgements, generation }: GatewayFacts): Condition[] {
  const message = meshTroubleText(acknowledgements)
  if (message === undefined) return []
  return [condition({ type: MESH_UNAVAILABLE, isTrue: true, reason: 'MeshNotServed', message, generation })]
}

/** Everything that does not use these Secrets is served. */
function secretsCondition({ leftOut, generation }: GatewayFacts): Condition[] {
  if (leftOut === undefined) return []
  const message = leftOut
  return [condition({ type: SECRETS_UNAVAILABLE, isTrue: true, reason: NOT_DELIVERED, message, generation })]
}

function adjusted(one: Condition, facts: GatewayFacts): Condition {
  if (one.type === 'Accepted') return accepted(one, facts)
  return one.type === 'Programmed' ? programmed(one, facts) : one
}

/** Settings that were deployed differently than requested are reported as well, without being an error. */
function accepted(one: Condition, { deployProblems, generation }: GatewayFacts): Condition {
  if (one.status !== 'True') return one
  const { type, reason } = one
  const parameters = errorsOf(deployProblems).filter((problem) => problem.reason === 'InvalidParameters')
  if (parameters.length > 0) {
    const message = linesOf(parameters)
    return condition({ type, isTrue: false, reason: 'InvalidParameters', message, generation })
  }
  const warnings = deployProblems.filter(({ severity }) => severity === 'warning')
  if (warnings.length === 0) return one
  return condition({
    type,
    isTrue: true,
    reason,
    message: [...one.message.split('\n'), ...linesOf(warnings)],
    generation,
  })
}

function errorsOf(problems: readonly DeployProblem[]): DeployProblem[] {
  return problems.filter(({ severity }) => severity === 'error')
}

function linesOf(problems: readonly DeployProblem[]): string[] {
  return problems.map(deployProblemLine)
}

/** With its object, unless that is the Gateway, whose status contains the message. */
export function deployProblemLine({ object, path, message }: DeployProblem): string {
  const line = problemLine({ path, message })
  const name = object.namespace === '' ? object.name : nameKey(object.namespace, object.name)
  return object.kind === 'Gateway' ? line : `${object.kind} ${name}: ${line}`
}

function programmed(one: Condition, facts: GatewayFacts): Condition {
  const { failure, generation } = facts
  const deployProblems = errorsOf(facts.deployProblems)
  if (one.status !== 'True') return one
  const no: Negation = (reason, message) => condition({ type: one.type, isTrue: false, reason, message, generation })
  if (deployProblems.length > 0) {
    const isAddress = deployProblems.some(({ reason }) => reason === 'UnsupportedAddress')
    return no(isAddress ? 'AddressNotUsable' : 'Invalid', linesOf(deployProblems))
  }
  if (failure !== undefined) return no('DeploymentFailed', failure.split('\n'))
  const missing = missingAddress(facts)
  if (missing !== undefined) return no('AddressNotUsable', missing)
  const outcome = served(one, facts, no)
  if (outcome.status !== 'True') return outcome
  return lostAddress(facts, no) ?? (facts.isReplicaExpected ? withTrouble(outcome, facts) : outcome)
}

/** The condition as False. */
type Negation = (reason: string, message: string | readonly string[]) => Condition

/** Whether a proxy runs it, or no proxy is expected to. */
function served(one: Condition, facts: GatewayFacts, no: Negation): Condition {
  const loaded = podsThatLoaded(facts)
  const { readyPods } = facts
  const isServed = loaded.length > 0 && (readyPods === undefined || loaded.some((pod) => readyPods.has(pod)))
  const wasProgrammed = facts.current.some(({ type, status }) => type === one.type && status === 'True')
  const isReached = facts.isAvailable || wasProgrammed
  return (isServed && isReached) || !facts.isReplicaExpected ? one : notYet(facts, loaded, no)
}

/**
 * A Service that was deleted is created again, and gets another address. If no load balancer has ever assigned an
 * address, there may be no load balancer: clients reach the Gateway in other ways.
 */
function lostAddress(
  { addresses, hasService, hadAddress, current }: GatewayFacts,
  no: Negation,
): Condition | undefined {
  if (addresses.length > 0) return undefined
  const isLost = hadAddress || current.some(({ type, reason }) => type === 'Programmed' && reason === NO_ADDRESS)
  if (isLost) return no(NO_ADDRESS, 'the Service of the Gateway lost its address and has no new address yet')
  return hasService ? undefined : no('Pending', 'the Service of the Gateway does not exist yet')
}

const NO_ADDRESS = 'AddressNotAssigned'

export type TroubleFacts = Pick<GatewayFacts, 'trouble' | 'isRollingOut' | 'readyPods'>

const STUCK = 'The roll-out is stuck, the former version serves traffic:'
const PARTLY = 'Some proxies are not running:'
const NONE = 'No proxy is ready for traffic:'

/** Proxies that do not run; the others may serve. */
export function troubleText({ trouble, isRollingOut, readyPods }: TroubleFacts): string | undefined {
  if (trouble === undefined) return undefined
  if (readyPods?.size === 0) return `${NONE} ${trouble}`
  return `${isRollingOut ? STUCK : PARTLY} ${trouble}`
}

/** Replaces the problem that the condition reported before. */
function withTrouble(one: Condition, facts: GatewayFacts): Condition {
  const trouble = troubleText(facts)
  const isKept = (line: string): boolean => ![STUCK, PARTLY, NONE].some((start) => line.startsWith(start))
  const kept = one.message.split('\n').filter(isKept)
  return { ...one, message: boundedMessage([...kept, ...(trouble === undefined ? [] : [trouble])].join('\n')) }
}

/** If the requested address is not available, the cluster assigns another address to the Service, or none. */
function missingAddress({ wantedAddress, addresses }: GatewayFacts): string | undefined {
  if (wantedAddress === undefined) return undefined
  const given = addresses.map(({ value }) => value)
  if (given.map(spelling).includes(spelling(wantedAddress))) return undefined
  const now = given.length === 0 ? 'no address is assigned yet' : `the Service has ${given.join(', ')}`
  return `spec.addresses: ${wantedAddress} is not assigned by the load balancer (${now}); use another address, or remove it`
}

/** IPv6 addresses are written in several ways. */
function spelling(address: string): string {
  return isIPv6(address) ? new URL(`http://[${address}]`).hostname : address
}

function podsThatLoaded({ acknowledgements, uid, generation }: GatewayFacts): string[] {
  return [...acknowledgements]
    .filter(([, { gatewayUid }]) => gatewayUid === uid)
    .filter(([, known]) => known.generation > 0 && known.gatewayGeneration >= generation)
    .map(([pod]) => pod)
}

/** A programmed Gateway stays programmed, for its older generation, until a proxy loads or rejects the new one. */
function notYet(
  { current, acknowledgements, trouble }: GatewayFacts,
  loaded: readonly string[],
  no: Negation,
): Condition {
  const refusal = [...acknowledgements.values()].find(({ rejected }) => rejected !== undefined)?.rejected
  if (refusal !== undefined) return no('Invalid', `a proxy rejected the configuration: ${refusal.message}`)
  const before = current.find(({ type }) => type === 'Programmed')
  const state = loaded.length === 0 ? 'no proxy has loaded the configuration yet' : 'no proxy is ready for traffic yet'
  const none = no('Pending', trouble === undefined ? state : `${state}: ${trouble}`)
  if (before?.status !== 'True') return none
  const { type, status, reason, message, observedGeneration } = before
  return { type, status, reason, message, ...(observedGeneration !== undefined && { observedGeneration }) }
}
