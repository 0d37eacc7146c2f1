// What the statuses of objects report when the delivery of a Gateway has no room for Secrets that they use: what needs
// such a Secret rejects traffic, everything else is served. Pure.
import type {
  Condition,
  ListenerBody,
  PolicyAncestorBody,
  PolicyBody,
  RouteBody,
  StatusBody,
} from '../translate/object-status.ts'
import { condition } from './condition.ts'

export const NOT_DELIVERED = 'SecretsNotDelivered'

/** An object, or one of its listeners. */
export interface SecretUser {
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly listener?: string
  /** `namespace/name` of the Secrets in question that it uses, sorted. */
  readonly secrets: readonly string[]
}

/** How one object, at one Gateway, uses Secrets that are not delivered there. */
export interface LeftOutUse {
  /** `namespace/name` of the Gateway. */
  readonly gateway: string
  readonly user: SecretUser
  /** The Gateway has a listener, perhaps of a ListenerSet, that needs none of these Secrets. */
  readonly hasServedListener: boolean
}

/** Of one message; the others are counted. */
const NAMES_MAX = 10

/** What it means, and what to do. */
export function notDeliveredText({ gateway, user: { secrets } }: Pick<LeftOutUse, 'gateway' | 'user'>): string {
  const more = secrets.length > NAMES_MAX ? ` and ${secrets.length - NAMES_MAX} others` : ''
  const names = `${secrets.length === 1 ? 'Secret' : 'Secrets'} ${secrets.slice(0, NAMES_MAX).join(', ')}${more}`
  const [verb, object] = secrets.length === 1 ? ['is', 'the Secret'] : ['are', 'the Secrets']
  const effect = `${names} ${verb} not delivered: Gateway ${gateway} has no room for it. Traffic that needs it is rejected`
  return `${effect}. Make ${object} smaller, or move some Secrets to another Gateway`
}

/** The status of an object with these uses. */
export function withLeftOutSecrets(body: StatusBody, uses: readonly LeftOutUse[]): StatusBody {
  if (uses.length === 0) return body
  if ('listeners' in body) return withListeners(body, uses)
  if ('ancestors' in body) return withAncestors(body, uses)
  if ('parents' in body) return withParents(body, uses)
  return { ...body, conditions: body.conditions.map((one) => partlyValid(one, uses)) }
}

function withListeners<
  B extends { readonly conditions: readonly Condition[]; readonly listeners: readonly ListenerBody[] },
>(body: B, uses: readonly LeftOutUse[]): B {
  const byListener = new Map(uses.map((use) => [use.user.listener, use]))
  const listeners = body.listeners.map((listener) => {
    const use = byListener.get(listener.name)
    return use === undefined ? listener : { ...listener, conditions: ofListener(listener.conditions, use) }
  })
  const bad = listeners.flatMap(({ name }) => (byListener.has(name) ? [`${name}: ${NOT_DELIVERED}`] : []))
  if (bad.length === 0) return body
  // A Gateway without a listener of its own that works may serve those of ListenerSets.
  const isServed =
    'attachedListenerSets' in body
      ? uses.some(({ hasServedListener }) => hasServedListener)
      : listeners.some(({ conditions: own }) => isTrue(own, 'Programmed'))
  const conditions = body.conditions.map((one) => ofOwner(one, { bad, isServed }))
  return { ...body, listeners, conditions }
}

function isTrue(conditions: readonly Condition[], wanted: string): boolean {
  return conditions.some(({ type, status }) => type === wanted && status === 'True')
}

/** What the translation itself reports stays: it has to be corrected first. */
function ofListener(conditions: readonly Condition[], use: LeftOutUse): Condition[] {
  const message = notDeliveredText(use)
  return conditions.map((one) => {
    const isConcerned = (one.type === 'Programmed' || one.type === 'ResolvedRefs') && one.status === 'True'
    return isConcerned ? failed(one, message) : one
  })
}

const SOME = 'Some listeners are not accepted: '

function ofOwner(one: Condition, { bad, isServed }: { readonly bad: readonly string[]; readonly isServed: boolean }) {
  const { type, status, observedGeneration: generation } = one
  if (status !== 'True') return one
  if (type === 'Accepted') {
    const known = one.message.startsWith(SOME) ? [one.message.slice(SOME.length)] : []
    const message = SOME + [...known, ...bad].join('; ')
    return condition({ type, isTrue: isServed, reason: 'ListenersNotValid', message, generation })
  }
  if (type !== 'Programmed' || isServed) return one
  return condition({ type, isTrue: false, reason: 'Invalid', message: 'no listener is programmed', generation })
}

function withAncestors(body: PolicyBody, uses: readonly LeftOutUse[]): PolicyBody {
  const byGateway = new Map(uses.map((use) => [use.gateway, use]))
  const ancestors = body.ancestors.map((ancestor): PolicyAncestorBody => {
    const { namespace = '', name } = ancestor.ancestorRef
    const use = byGateway.get(`${namespace}/${name}`)
    return use === undefined ? ancestor : { ...ancestor, conditions: ofPolicy(ancestor.conditions, use) }
  })
  return { ancestors }
}

/** A GwPolicy that is valid only in part has no condition Attached. */
function ofPolicy(conditions: readonly Condition[], use: LeftOutUse): Condition[] {
  const type = use.user.kind === 'BackendTLSPolicy' ? 'ResolvedRefs' : 'Attached'
  const known = conditions.find((one) => one.type === type)
  if (known?.status === 'False') return [...conditions]
  const generation = conditions[0]?.observedGeneration
  const now = condition({ type, isTrue: false, reason: NOT_DELIVERED, message: notDeliveredText(use), generation })
  return known === undefined ? [...conditions, now] : conditions.map((one) => (one === known ? now : one))
}

/** Of a GwModel. */
function withParents({ parents }: RouteBody, uses: readonly LeftOutUse[]): RouteBody {
  const message = uses.map(notDeliveredText)
  return {
    parents: parents.map((parent) => ({
      ...parent,
      conditions: parent.conditions.map((one) =>
        one.type === 'ResolvedRefs' && one.status === 'True' ? failed(one, message) : one,
      ),
    })),
  }
}

/** Of a GwBackend: with other Secrets, or at other Gateways, it works. */
function partlyValid(one: Condition, uses: readonly LeftOutUse[]): Condition {
  const { type, status, reason, observedGeneration: generation } = one
  if (type !== 'Accepted' || status !== 'True') return one
  const known = reason === 'PartiallyValid' ? one.message.split('\n') : []
  const message = [...known, ...uses.map(notDeliveredText)]
  return condition({ type, isTrue: true, reason: 'PartiallyValid', message, generation })
}

function failed({ type, observedGeneration: generation }: Condition, message: string | readonly string[]): Condition {
  return condition({ type, isTrue: false, reason: NOT_DELIVERED, message, generation })
}
