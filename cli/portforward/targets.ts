// The proxies that a command connects to. Pure: mistakes are values.
import type { AdminTransport } from './admin-client.ts'
import { addressOf, localTransport } from './local-transport.ts'

export interface TargetFlags {
  readonly local?: boolean
  readonly adminAddr: string
}

export function transportsOf(flags: TargetFlags): readonly AdminTransport[] | { readonly problem: string } {
  if (flags.local !== true) return { problem: 'pass --local for a proxy on this machine' }
  const address = addressOf(flags.adminAddr)
  if (address === undefined) return { problem: `--admin-addr ${flags.adminAddr}: must be host:port` }
  return [localTransport(address)]
}
