import { expect, it } from 'vitest'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import { wantedAddress } from './address.ts'

type Addresses = Gateway['spec']['addresses']

function gatewayWith(addresses: Addresses): Gateway {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: 'a', namespace: 'b' },
    spec: { gatewayClassName: 'gw', listeners: [], ...(addresses === undefined ? {} : { addresses }) },
  }
}

it.each<[string, Addresses, string | undefined, string[]]>([
  ['none', undefined, undefined, []],
  ['an empty list', [], undefined, []],
  ['one IPv4 address', [{ type: 'IPAddress', value: '192.0.2.1' }], '192.0.2.1', []],
  ['one IPv6 address without a type', [{ value: '2001:db8::1' }], '2001:db8::1', []],
  ['an address for the cluster to choose', [{ type: 'IPAddress' }], undefined, []],
  ['an empty value', [{ type: 'IPAddress', value: '' }], undefined, []],
  ['one given, one to choose', [{ value: '192.0.2.1' }, { type: 'IPAddress' }], '192.0.2.1', []],
  ['two', [{ value: '192.0.2.1' }, { value: '192.0.2.2' }], undefined, ['spec.addresses']],
  ['no address', [{ value: '192.0.2.256' }], undefined, ['spec.addresses[0].value']],
  ['a host name', [{ type: 'Hostname', value: 'a.example' }], undefined, ['spec.addresses[0].type']],
  ['one of several wrong', [{ value: '192.0.2.1' }, { value: 'x' }], undefined, ['spec.addresses[1].value']],
])('%s', (_, addresses, ip, paths) => {
  const result = wantedAddress(gatewayWith(addresses))
  expect(result.ip).toBe(ip)
  expect(result.problems.map(({ path }) => path)).toEqual(paths)
  expect(result.problems.every(({ reason, severity }) => reason === 'UnsupportedAddress' && severity === 'error')).toBe(
    true,
  )
})
