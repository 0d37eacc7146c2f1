// What translation cannot know about a Gateway: whether its objects could be made, and whether a proxy runs what was
// rendered for it. Changes the two conditions that say so. Pure.
import { isIPv6 } from 'node:net'
import type { Acknowledgement } from '#api/delivery/acknowledgement.ts'
import type { DeployProblem } from '#deployer/input.ts'
import { boundedMessage, type Condition, condition, problemLine } from '../status/condition.ts'
import type { GatewayBody } from '../status/object-status.ts'
import { nameKey } from '../translate/object-ref.ts'

export interface GatewayFacts {
  readonly uid: string
  readonly generation: number
  readonly deployProblems: readonly DeployProblem[]
  /** The IP address that the Gateway asks for. */
  readonly wantedAddress: string | undefined
  /** Why objects could not be written. */
  readonly failure: string | undefined
  readonly acknowledgements: ReadonlyMap<string, Acknowledgement>
  /** Pods that take connections; undefined: nothing in this cluster runs the workload, and every proxy counts. */
  readonly readyPods: ReadonlySet<string> | undefined
  /** False while no pod has been ready for long enough that every node knows the way to it. */
  readonly isAvailable: boolean
  /** Why a proxy does not run, where that is known. */
  readonly trouble: string | undefined
  /** Some proxies are of a version before. */
  readonly isRollingOut: boolean
  /** False when the workload is scaled to zero on purpose. */
  readonly isReplicaExpected: boolean
  /** As it stands in the cluster. */
  readonly current: readonly Condition[]
}

export function withProgrammed(body: GatewayBody, facts: GatewayFacts): GatewayBody {
  const { addresses } = body
  return { ...body, conditions: body.conditions.map((one) => adjusted(one, facts, addresses)) }
}

function adjusted(one: Condition, facts: GatewayFacts, addresses: GatewayBody['addresses']): Condition {
  if (one.type === 'Accepted') return accepted(one, facts)
  return one.type === 'Programmed' ? programmed(one, facts, addresses) : one
}

/** What is deployed in another way than it was asked for is said as well, without being an error. */
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

/** With its object, unless that is the Gateway, in whose status it stands. */
export function deployProblemLine({ object, path, message }: DeployProblem): string {
  const line = problemLine({ path, message })
  const name = object.namespace === '' ? object.name : nameKey(object.namespace, object.name)
  return object.kind === 'Gateway' ? line : `${object.kind} ${name}: ${line}`
}

function programmed(one: Condition, facts: GatewayFacts, addresses: GatewayBody['addresses']): Condition {
  const { failure, generation } = facts
  const deployProblems = errorsOf(facts.deployProblems)
  if (one.status !== 'True') return one
  const no = (reason: string, message: string | readonly string[]): Condition =>
    condition({ type: one.type, isTrue: false, reason, message, generation })
  if (deployProblems.length > 0) {
    const isAddress = deployProblems.some(({ reason }) => reason === 'UnsupportedAddress')
    return no(isAddress ? 'AddressNotUsable' : 'Invalid', linesOf(deployProblems))
  }
  if (failure !== undefined) return no('DeploymentFailed', failure.split('\n'))
  const missing = missingAddress(facts, addresses)
  if (missing !== undefined) return no('AddressNotUsable', missing)
  const loaded = podsThatLoaded(facts)
  const { readyPods } = facts
  const isServed = loaded.length > 0 && (readyPods === undefined || loaded.some((pod) => readyPods.has(pod)))
  const wasProgrammed = facts.current.some(({ type, status }) => type === one.type && status === 'True')
  const isReached = facts.isAvailable || wasProgrammed
  if (!facts.isReplicaExpected) return one
  return withTrouble(isServed && isReached ? one : notYet(facts, loaded, no), facts)
}

export type TroubleFacts = Pick<GatewayFacts, 'trouble' | 'isRollingOut' | 'readyPods'>

const STUCK = 'The roll-out is stuck, the former version serves:'
const PARTLY = 'Some proxies do not run:'
const NONE = 'No proxy is ready for traffic:'

/** Proxies that do not run; the others may serve. */
export function troubleText({ trouble, isRollingOut, readyPods }: TroubleFacts): string | undefined {
  if (trouble === undefined) return undefined
  if (readyPods?.size === 0) return `${NONE} ${trouble}`
  return `${isRollingOut ? STUCK : PARTLY} ${trouble}`
}

/** In place of the trouble that the condition named before. */
function withTrouble(one: Condition, facts: GatewayFacts): Condition {
  if (one.status !== 'True') return one
  const trouble = troubleText(facts)
  const isKept = (line: string): boolean => ![STUCK, PARTLY, NONE].some((start) => line.startsWith(start))
  const kept = one.message.split('\n').filter(isKept)
  return { ...one, message: boundedMessage([...kept, ...(trouble === undefined ? [] : [trouble])].join('\n')) }
}

/** The cluster gives a Service another address than it asks for, or none, when that address cannot be had. */
function missingAddress({ wantedAddress }: GatewayFacts, addresses: GatewayBody['addresses']): string | undefined {
  if (wantedAddress === undefined) return undefined
  const given = addresses.map(({ value }) => value)
  if (given.map(spelling).includes(spelling(wantedAddress))) return undefined
  const now = given.length === 0 ? 'none was given yet' : `the Service has ${given.join(', ')}`
  return `spec.addresses: ${wantedAddress} cannot be had from the load balancer (${now}); name another, or none`
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

/** A Gateway that was programmed stays so, for its older generation, until a proxy has the new one or refuses it. */
function notYet(
  { current, acknowledgements, trouble }: GatewayFacts,
  loaded: readonly string[],
  no: (reason: string, message: string) => Condition,
): Condition {
  const refusal = [...acknowledgements.values()].find(({ rejected }) => rejected !== undefined)?.rejected
  if (refusal !== undefined) return no('Invalid', `a proxy refused the configuration: ${refusal.message}`)
  const before = current.find(({ type }) => type === 'Programmed')
  const state = loaded.length === 0 ? 'no proxy has loaded the configuration yet' : 'no proxy is ready for traffic yet'
  const none = no('Pending', trouble === undefined ? state : `${state}: ${trouble}`)
  if (before?.status !== 'True') return none
  const { type, status, reason, message, observedGeneration } = before
  return { type, status, reason, message, ...(observedGeneration !== undefined && { observedGeneration }) }
}
