// Socket addresses as strings that rules, logs and metrics can compare.

const MAPPED = '::ffff:'

/** The IPv4 address of a client of a dual-stack listener, without the IPv6 prefix. */
export function plainAddress(address: string | undefined): string {
  if (address === undefined) return ''
  return address.startsWith(MAPPED) && address.includes('.') ? address.slice(MAPPED.length) : address
}
