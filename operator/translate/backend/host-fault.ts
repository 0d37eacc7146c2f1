// A host that can never be one: a URL, or a port or brackets in it. It would be asked of name servers, and every
// request would fail for want of an address.
import { isIP } from 'node:net'
import type { FieldPath, Problem } from '#api/problem.ts'
import { MALFORMED } from '../policy/faults.ts'

/** What no name has, and no address but by its colons. */
const FOREIGN = /[\s:/?#@[\]*]/

export function hostFault(host: string | undefined, path: FieldPath): Problem[] {
  if (host === undefined || isIP(host) !== 0 || !FOREIGN.test(host)) return []
  const message =
    'is not a host name or an address; leave out the scheme (http://), write the port in port and the path in routes, ' +
    'and set policies.tls for https'
  return [{ path, reason: MALFORMED, message, severity: 'error' }]
}
