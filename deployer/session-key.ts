// The key that proxies of one Gateway share to protect sessions. Kept in a Secret that is made once: a new key would
// end every session.
import { createHash } from 'node:crypto'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import { safeName } from '#api/delivery/names.ts'
import type { DeployProblem, SessionKeyFact } from './input.ts'
import { refOf } from './kube-object.ts'

export const SESSION_KEY_FIELD = 'key'

const FORM = /^[0-9a-f]{64}$/i

const NAME_END = '-session-key'

export function sessionKeyName(gatewayName: string): string {
  return `${safeName(gatewayName)}${NAME_END}`
}

export function isSessionKeyName(name: string): boolean {
  return name.endsWith(NAME_END)
}

/** `unknown`: there is one, and nothing is said about it. */
export type SessionKey =
  | 'unknown'
  | { readonly key: string; readonly checksum: string }
  | { readonly problem: DeployProblem }

/** The value never shows up in a message. */
export function sessionKeyOf(gateway: Gateway, fact: SessionKeyFact): SessionKey {
  if (fact.state === 'unknown') return 'unknown'
  const key = fact.state === 'present' ? fact.key : fact.newKey
  if (key !== undefined && FORM.test(key)) return { key, checksum: createHash('sha256').update(key).digest('hex') }
  const name = sessionKeyName(gateway.metadata.name)
  const cure = 'put 64 hexadecimal digits there, or delete the Secret to get a new key (sessions end)'
  const problem: DeployProblem = {
    object: { apiVersion: 'v1', kind: 'Secret', namespace: refOf(gateway).namespace, name },
    path: `data.${SESSION_KEY_FIELD}`,
    reason: 'InvalidSessionKey',
    message: `the session key is ${key === undefined ? 'missing' : 'malformed'}: ${cure}`,
    severity: 'error',
  }
  return { problem }
}
