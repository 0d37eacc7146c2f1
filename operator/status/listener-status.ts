// The status of one listener, the same in a Gateway and a ListenerSet.
import { faultText, type Listener, type ListenerFault } from '../translate/gateway/listener.ts'
import { condition } from './condition.ts'
import type { Condition, ListenerBody } from '../translate/object-status.ts'

export interface ListenerStatusInput {
  readonly listener: Listener
  readonly attachedRoutes: number
  readonly generation: number | undefined
}

export function listenerStatus({ listener, attachedRoutes, generation }: ListenerStatusInput): ListenerBody {
  const { spec, kinds, notAccepted, notProgrammed, unresolvedRef } = listener
  return {
    name: spec.name,
    attachedRoutes,
    supportedKinds: kinds,
    conditions: [
      verdict('Accepted', notAccepted, generation),
      verdict('Programmed', notProgrammed, generation),
      verdict('ResolvedRefs', unresolvedRef, generation),
      conflicted(listener, generation),
    ],
  }
}

/** Accepted, and with a usable configuration: its owner counts such a listener as valid. */
export function isGoodListener({ notAccepted, notProgrammed }: Listener): boolean {
  return notAccepted === undefined && notProgrammed === undefined
}

/** `first: HostnameConflict; second: Invalid`, for the condition of the owner. */
export function badListeners(listeners: readonly Listener[]): string {
  return listeners
    .filter((listener) => !isGoodListener(listener))
    .map(({ spec, notAccepted, notProgrammed }) => `${spec.name}: ${(notAccepted ?? notProgrammed)?.reason ?? ''}`)
    .join('; ')
}

const GOOD_MESSAGE = {
  Accepted: 'Listener is accepted',
  Programmed: 'Listener is programmed',
  ResolvedRefs: 'All references are resolved',
} as const

function verdict(
  type: keyof typeof GOOD_MESSAGE,
  fault: ListenerFault | undefined,
  generation: number | undefined,
): Condition {
  return fault === undefined
    ? condition({ type, isTrue: true, reason: type, message: GOOD_MESSAGE[type], generation })
    : condition({ type, isTrue: false, reason: fault.reason, message: faultText(fault), generation })
}

function conflicted({ conflict }: Listener, generation: number | undefined): Condition {
  const type = 'Conflicted'
  return conflict === undefined
    ? condition({ type, isTrue: false, reason: 'NoConflicts', message: 'No errors found', generation })
    : condition({ type, isTrue: true, ...conflict, generation })
}
