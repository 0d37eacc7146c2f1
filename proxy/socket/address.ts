// Addresses of sockets as texts that rules, logs and metrics can compare.

const MAPPED = '::ffff:'

/** An IPv4 client of a dual-stack listener is an IPv4 client. */
export function plainAddress(address: string | undefined): string {
  if (address === undefined) return ''
  return address.startsWith(MAPPED) && address.includes('.') ? address.slice(MAPPED.length) : address
}
