// Two schemes of one policy that both require a credential in one place: the first removes it, so the second finds no
// credential. Only reports this; the policy is delivered as written.
import type { ExtractionLocation, PolicyPayload } from '#api/ir/types.gen.ts'
import type { Problem } from '#api/problem.ts'

/** In the order they run. */
const SCHEMES = ['jwtAuthentication', 'basicAuthentication', 'apiKeyAuthentication'] as const

export function sharedLocationProblems(payloads: readonly PolicyPayload[]): Problem[] {
  const holders = new Map<string, string>()
  return SCHEMES.flatMap((field): Problem[] => {
    const scheme = payloads.find(({ traffic }) => traffic?.[field] !== undefined)?.traffic?.[field]
    const place = scheme?.mode === 'Strict' ? placeOf(scheme.location) : undefined
    if (place === undefined) return []
    const holder = holders.get(place)
    if (holder === undefined) {
      holders.set(place, field)
      return []
    }
    const message =
      `traffic.${holder} and traffic.${field} both read a credential from ${place}, and the first removes it: every ` +
      `request is rejected with 401; set another location for one of them`
    return [{ path: `spec.traffic.${field}.location`, reason: 'SharedLocation', message, severity: 'warning' }]
  })
}

/** undefined: an expression, which removes nothing. A prefix does not make another place. */
function placeOf(location: ExtractionLocation | undefined): string | undefined {
  if (location === undefined) return 'header authorization'
  const { header, queryParameter, cookie } = location
  if (header !== undefined) return `header ${header.name}`
  if (queryParameter !== undefined) return `query parameter ${queryParameter.name}`
  return cookie === undefined ? undefined : `cookie ${cookie.name}`
}
