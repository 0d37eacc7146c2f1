// What goes wrong after translation becomes an Event on its Gateway, once: a configuration that a proxy refused, and an
// object of somebody else that is in the way.
import { Clock, Effect } from 'effect'
import type { Acknowledgement } from '#api/delivery/acknowledgement.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import { KubeClient } from '../kube/client.ts'
import { describeKubeError } from '../kube/errors.ts'
import { EVENTS } from '../kube/resources.ts'
import type { KubeObject } from '../translate/kube.ts'

const MESSAGE_CHARS_MAX = 1024
/** Refusals that are remembered, so that they are told once. */
const TOLD_MAX = 10_000

export class Rejections {
  readonly #told = new Set<string>()
  readonly #component: string

  constructor(component: string) {
    this.#component = component
  }

  /** Tells about new refusals; how many there were. */
  tell(
    gateway: Gateway,
    acknowledgements: ReadonlyMap<string, Acknowledgement>,
  ): Effect.Effect<number, never, KubeClient> {
    const messages: string[] = []
    for (const [pod, { rejected }] of acknowledgements) {
      if (rejected === undefined) continue
      if (!this.#isNew(`${gateway.metadata.uid} ${pod} ${rejected.generation} ${rejected.message}`)) continue
      messages.push(`${pod}: ${rejected.message}`)
    }
    const tell = (message: string): Effect.Effect<void, never, KubeClient> =>
      createEvent({ gateway, component: this.#component, reason: 'GwNackError', message })
    return Effect.as(Effect.forEach(messages, tell, { discard: true }), messages.length)
  }

  /** Why the objects of the Gateway could not be written; undefined: they could. */
  tellFailure(gateway: Gateway, message: string | undefined): Effect.Effect<void, never, KubeClient> {
    if (message === undefined || !this.#isNew(`${gateway.metadata.uid} ${message}`)) return Effect.void
    return createEvent({ gateway, component: this.#component, reason: 'DeploymentFailed', message })
  }

  #isNew(id: string): boolean {
    if (this.#told.has(id)) return false
    if (this.#told.size >= TOLD_MAX) this.#told.clear()
    this.#told.add(id)
    return true
  }
}

const createEvent = Effect.fnUntraced(
  function* (input: EventInput) {
    const client = yield* KubeClient
    const now = yield* Clock.currentTimeMillis
    yield* client.create(eventOf(input, now), EVENTS, input.component)
  },
  (effect) => effect.pipe(Effect.catch((error) => Effect.logWarning('event not written', describeKubeError(error)))),
)

interface EventInput {
  readonly gateway: Gateway
  readonly component: string
  readonly reason: string
  readonly message: string
}

function eventOf({ gateway, component, reason, message }: EventInput, now: number): KubeObject {
  const { name, namespace = '', uid } = gateway.metadata
  const time = new Date(now).toISOString().replace(/\.\d+Z$/, 'Z')
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    // As other sources name their events: the object, and something that does not repeat.
    metadata: { name: `${name.slice(0, 200)}.${now.toString(16)}${Math.floor(now % 1000).toString(16)}`, namespace },
    type: 'Warning',
    reason,
    message: message.slice(0, MESSAGE_CHARS_MAX),
    involvedObject: { apiVersion: gateway.apiVersion, kind: 'Gateway', name, namespace, uid },
    source: { component },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  }
  return event
}
