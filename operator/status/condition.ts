// One status condition, and the limits of its message, which may quote users and is read in terminals. Pure shaping:
// the transition time belongs to the writer.
import { GROUP } from '#api/group.ts'
import { printable } from '#api/printable.ts'
import type { Condition } from '../translate/object-status.ts'

/** metav1.Condition allows 32768 characters. */
export const MESSAGE_LENGTH_MAX = 32_768

const CUT_MARK = '\n… (cut)'

export interface ConditionInput {
  readonly type: string
  readonly isTrue: boolean
  readonly reason: string
  /** A list is one line each. What else would make a line is escaped. */
  readonly message: string | readonly string[]
  readonly generation: number | undefined
}

export function condition({ type, isTrue, reason, message, generation }: ConditionInput): Condition {
  return {
    type,
    status: isTrue ? 'True' : 'False',
    reason,
    message: boundedMessage((typeof message === 'string' ? [message] : message).map(printable).join('\n')),
    ...(generation !== undefined && { observedGeneration: generation }),
  }
}

/** Present only if it is True: another namespace serves a part of the same host. */
export function sharedHostCondition(message: string | undefined, generation: number | undefined): Condition[] {
  if (message === undefined || message === '') return []
  const lines = message.split('\n')
  return [
    condition({ type: `${GROUP}/HostShared`, isTrue: true, reason: 'OtherNamespace', message: lines, generation }),
  ]
}

/** On a Gateway whose proxies have no current certificate of their mesh; absent otherwise. */
export const MESH_UNAVAILABLE = `${GROUP}/MeshUnavailable`

/** On a Gateway with Secrets for which its delivery has no room; absent otherwise. */
export const SECRETS_UNAVAILABLE = `${GROUP}/SecretsUnavailable`

export function boundedMessage(message: string): string {
  if (message.length <= MESSAGE_LENGTH_MAX) return message
  return message.slice(0, MESSAGE_LENGTH_MAX - CUT_MARK.length) + CUT_MARK
}

/** A problem with its field first; a message that contains the field does not repeat it. */
export function problemLine({ path, message }: { readonly path: string; readonly message: string }): string {
  if (message.includes(path)) return message
  const short = path.replace(/^spec\./, '')
  if (message.startsWith(`${short} `)) return path.slice(0, path.length - short.length) + message
  const colon = message.indexOf(': ')
  const isNamed = colon > 0 && short.startsWith(message.slice(0, colon))
  return `${path}: ${isNamed ? message.slice(colon + 2) : message}`
}
