// Hosts that people write and that can never be looked up.
import { expect, it } from 'vitest'
import { hostFault } from './host-fault.ts'

it.each([
  'https://api.example.com',
  'api.example.com:443',
  'api.example.com/v1',
  '[::1]',
  'a b',
  '*.example.com',
  'u@a',
])('%s', (host) => {
  expect(hostFault(host, 'spec.static.host')).toMatchObject([{ path: 'spec.static.host', severity: 'error' }])
})

it('reports how to correct an IPv6 address in brackets', () => {
  const [fault] = hostFault('[2001:db8::1]', 'spec.static.host')
  expect(fault?.message).toBe('is an IPv6 address in brackets; leave the brackets out')
})

it.each([
  undefined,
  'api.example.com',
  'api.example.com.',
  'a_b.example',
  'localhost',
  '10.0.0.1',
  '::1',
  'bücher.example',
])('accepts %s', (host) => {
  expect(hostFault(host, 'spec.static.host')).toEqual([])
})
