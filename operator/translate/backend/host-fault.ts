// A host that can never be one: a URL, or a port or brackets in it. It would be asked of name servers, and every
// request would fail for want of an address.
import { isIP } from 'node:net'
import type { FieldPath, Problem } from '#api/problem.ts'
import { MALFORMED } from '../policy/faults.ts'

/** What no name has, and no address but by its colons. */
const FOREIGN = /[\s:/?#@[\]*]/

export function hostFault(host: string | undefined, path: FieldPath): Problem[] {
  if (host === undefined || isIP(host) !== 0 || !FOREIGN.test(host)) return []
  const message = 'no host name and no address: the port belongs into port, a path into routes, https into policies.tls'
  return [{ path, reason: MALFORMED, message, severity: 'error' }]
}
