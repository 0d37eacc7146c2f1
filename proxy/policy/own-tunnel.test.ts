import { describe, expect, it } from 'vitest'
import { withOwnTunnel } from './own-tunnel.ts'

const HEADERS = { proxyProtocol: { version: 'V2', mode: 'Strict' } } as const
const TUNNELS = { connect: { mode: 'Tunnel' } } as const
const DENIED = { connect: { mode: 'Deny' } } as const
const OPTIONAL = { proxyProtocol: { version: 'All', mode: 'Optional' } } as const

describe('withOwnTunnel', () => {
  it.each([
    [undefined, {}, {}],
    ['Proxy', {}, HEADERS],
    ['Connect', {}, TUNNELS],
    ['Proxy', TUNNELS, TUNNELS],
    ['Proxy', OPTIONAL, OPTIONAL],
    ['Connect', OPTIONAL, OPTIONAL],
    ['Connect', DENIED, DENIED],
  ] as const)('%s, with policies %j', (tunnelProtocol, policies, expected) => {
    expect(withOwnTunnel(tunnelProtocol === undefined ? {} : { tunnelProtocol }, policies)).toEqual(expected)
  })
})
