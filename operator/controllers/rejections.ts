// A configuration that a proxy refused becomes an Event on its Gateway: once for each pod and delivery.
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
    const events: { pod: string; message: string }[] = []
    for (const [pod, { rejected }] of acknowledgements) {
      if (rejected === undefined) continue
      const id = `${gateway.metadata.uid} ${pod} ${rejected.generation} ${rejected.message}`
      if (this.#told.has(id)) continue
      if (this.#told.size >= TOLD_MAX) this.#told.clear()
      this.#told.add(id)
      events.push({ pod, message: rejected.message })
    }
    const component = this.#component
    return Effect.as(
      Effect.forEach(events, (event) => createEvent(gateway, component, event), { discard: true }),
      events.length,
    )
  }
}

const createEvent = Effect.fnUntraced(
  function* (gateway: Gateway, component: string, { pod, message }: { pod: string; message: string }) {
    const client = yield* KubeClient
    const now = yield* Clock.currentTimeMillis
    yield* client.create(eventOf({ gateway, component, now, message: `${pod}: ${message}` }), EVENTS)
  },
  (effect) => effect.pipe(Effect.catch((error) => Effect.logWarning('event not written', describeKubeError(error)))),
)

interface EventInput {
  readonly gateway: Gateway
  readonly component: string
  readonly now: number
  readonly message: string
}

function eventOf({ gateway, component, now, message }: EventInput): KubeObject {
  const { name, namespace = '', uid } = gateway.metadata
  const time = new Date(now).toISOString().replace(/\.\d+Z$/, 'Z')
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    // As other sources name their events: the object, and something that does not repeat.
    metadata: { name: `${name.slice(0, 200)}.${now.toString(16)}${Math.floor(now % 1000).toString(16)}`, namespace },
    type: 'Warning',
    reason: 'GwNackError',
    message: message.slice(0, MESSAGE_CHARS_MAX),
    involvedObject: { apiVersion: gateway.apiVersion, kind: 'Gateway', name, namespace, uid },
    source: { component },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  }
  return event
}
