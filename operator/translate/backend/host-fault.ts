// Hosts that are never valid: a URL, or a host with a port or brackets in it. The proxy would ask name servers for it,
// and every request would fail because it has no address.
import { isIP } from 'node:net'
import type { FieldPath, Problem } from '#api/problem.ts'
import { MALFORMED } from '../defects.ts'

/** Characters that no name contains; of addresses, only IPv6 ones contain colons. */
const FOREIGN = /[\s:/?#@[\]*]/

export function hostFault(host: string | undefined, path: FieldPath): Problem[] {
  if (host === undefined || isIP(host) !== 0 || !FOREIGN.test(host)) return []
  const [, address = ''] = /^\[(.*)\]$/.exec(host) ?? []
  if (isIP(address) === 6) {
    const message = 'is an IPv6 address in brackets; leave the brackets out'
    return [{ path, reason: MALFORMED, message, severity: 'error' }]
  }
  const message =
    'is not a host name or an address; remove the scheme (http://), set the port in port and the path in routes, ' +
    'and set policies.tls for https'
  return [{ path, reason: MALFORMED, message, severity: 'error' }]
}
