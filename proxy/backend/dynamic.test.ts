import { describe, expect, it } from 'vitest'
import type { UpstreamTarget } from '../upstream/target.ts'
import { Destinations } from './dynamic.ts'

let made = 0
function targetOf(host: string, port: number): UpstreamTarget {
  made++
  return { key: `${host}:${port}`, host, port, unixPath: undefined, tls: undefined, connectTimeoutMs: 1000 }
}

describe('Destinations', () => {
  it.each([
    ['a.test', 'a.test:443'],
    ['a.test:80', 'a.test:80'],
    ['A.Test:8080', 'a.test:8080'],
    ['10.0.0.1', '10.0.0.1:443'],
    ['[::1]', '[::1]:443'],
    ['[2001:DB8::1]:65535', '[2001:db8::1]:65535'],
  ])('%s is %s', (authority, label) => {
    expect(new Destinations(targetOf).ofAuthority(authority, 443)?.label).toBe(label)
  })

  it.each(['', ':80', 'a.test:', 'a.test:0', 'a.test:65536', 'a b', 'a@b', '::1', '[::1', 'a/b', '[a.test]'])(
    '%j is invalid',
    (authority) => {
      expect(new Destinations(targetOf).ofAuthority(authority, 443)).toBeUndefined()
    },
  )

  it('of a connection is its server name, at its destination port', () => {
    const destinations = new Destinations(targetOf)
    expect(destinations.ofConnection({ sni: 'a.test', localPort: 8443 })?.label).toBe('a.test:8443')
    expect(destinations.ofConnection({ sni: undefined, localPort: 8443 })).toBeUndefined()
  })

  it('keeps recently used ones, up to its limit', () => {
    const destinations = new Destinations(targetOf)
    made = 0
    for (let i = 0; i < 1100; i++) {
      destinations.ofAuthority('hot.test', 80)
      destinations.ofAuthority(`n${i}.test`, 80)
    }
    expect(made).toBe(1101)
    destinations.ofAuthority('n1099.test', 80)
    expect(made).toBe(1101)
    destinations.ofAuthority('n0.test', 80)
    expect(made).toBe(1102)
  })
})
