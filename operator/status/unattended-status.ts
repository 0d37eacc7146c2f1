// The status of a Gateway or ListenerSet that no controller serves any more: the initial status of the Gateway API,
// with the reason. Pure.
import type { Condition, UnattendedBody } from '../translate/object-status.ts'

/** Addresses stay as they are: the proxies still answer there. */
export function unattendedStatus(message: string, generation: number | undefined): UnattendedBody {
  const unknown = (type: string): Condition => ({
    type,
    status: 'Unknown',
    reason: 'Pending',
    message,
    ...(generation !== undefined && { observedGeneration: generation }),
  })
  return { conditions: [unknown('Accepted'), unknown('Programmed')], listeners: [] }
}
