// The annotation that marks ports of a Gateway or ListenerSet as internal: other listeners forward to them, and the
// proxy opens no socket. A port in it that does not exist is reported; the others stay internal.
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { ListenerSet } from '#api/gateway/listenerset.gen.ts'
import { GW_GROUP } from '../groups.ts'
import { describe, refOf } from '../object-ref.ts'

const INTERNAL_PORTS_ANNOTATION = `${GW_GROUP}/internal-ports`

export interface InternalPorts {
  readonly ports: ReadonlySet<number>
  /** Messages for the Gateway's Accepted condition. */
  readonly faults: readonly string[]
}

/** Every owner of a port must mark it as internal; if they disagree, the port is a standard one. */
export function internalPorts(gateway: Gateway, sets: readonly ListenerSet[]): InternalPorts {
  const faults: string[] = []
  const claimed = new Set<number>()
  const denied = new Set<number>()
  for (const owner of [gateway, ...sets]) {
    const own = new Set(owner.spec.listeners.map(({ port }) => port))
    const wanted = wantedPorts(owner)
    const stray = wanted.find((port) => !own.has(port))
    if (stray !== undefined) {
      const where = describe(refOf(owner))
      faults.push(`invalid ${INTERNAL_PORTS_ANNOTATION} annotation: port ${stray} is not a port of ${where}`)
    }
    const valid = new Set(wanted)
    for (const port of own) (valid.has(port) ? claimed : denied).add(port)
  }
  const disputed = [...claimed].filter((port) => denied.has(port)).sort((a, b) => a - b)
  if (disputed.length > 0) {
    const list = `[${disputed.join(' ')}]`
    faults.push(
      `conflicting ${INTERNAL_PORTS_ANNOTATION} annotation: port(s) ${list} are internal for some owners only`,
    )
  }
  return { ports: new Set([...claimed].filter((port) => !denied.has(port))), faults }
}

/** A text that is not a number matches no port and is reported as unknown. */
function wantedPorts({ metadata }: Gateway | ListenerSet): number[] {
  const text = metadata.annotations?.[INTERNAL_PORTS_ANNOTATION] ?? ''
  const parts = text.split(',').map((part) => part.trim())
  return parts.filter((part) => part !== '').map(Number)
}
