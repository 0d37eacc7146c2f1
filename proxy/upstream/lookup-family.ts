// Which addresses of a name are asked for and used (DNS_LOOKUP_FAMILY).
import { isIP } from 'node:net'
import type { LookupFamily } from '#api/units/lookup-family.ts'

export function asksFor(family: LookupFamily): readonly (4 | 6)[] {
  if (family === 'V4_ONLY') return [4]
  return family === 'V6_ONLY' ? [6] : [4, 6]
}

/** The wanted ones, IPv4 first. */
export function ofFamily(addresses: readonly string[], family: LookupFamily): readonly string[] {
  const wanted = asksFor(family)
  return addresses
    .filter((address) => wanted.some((one) => one === isIP(address)))
    .toSorted((a, b) => isIP(a) - isIP(b))
}
