// Any bytes give a verdict within a bound, and how a header is cut never changes it.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ProxyRule, readProxyHeader } from './proxy-header.ts'
import { proxyHeader2 } from './proxy-header.testing.ts'

const rule: fc.Arbitrary<ProxyRule> = fc.record({
  version: fc.constantFrom('V1' as const, 'V2' as const, 'All' as const),
  isRequired: fc.boolean(),
})
const port = fc.nat({ max: 65_535 })
const ends = fc.record({ sourcePort: port, localPort: port })
const additions = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes))
const version2 = fc
  .tuple(fc.constantFrom(fc.ipV4(), fc.ipV6()), ends, additions)
  .chain(([address, ports, extra]) =>
    fc
      .tuple(address, address)
      .map(([sourceAddress, localAddress]) =>
        proxyHeader2({ sourceAddress, localAddress, ...ports, additions: extra }),
      ),
  )
const version1 = fc
  .tuple(fc.ipV4(), fc.ipV4(), ends)
  .map(([source, local, { sourcePort, localPort }]) =>
    Buffer.from(`PROXY TCP4 ${source} ${local} ${sourcePort} ${localPort}\r\n`),
  )
const signature = fc.constantFrom('', 'PROXY ', 'PROXY TCP4 ', '\r\n\r\n\0\r\nQUIT\n', '\r\n\r\n\0\r\nQUIT\n\x21\x11\0')
const anything = fc
  .tuple(signature, fc.uint8Array({ maxLength: 400 }))
  .map(([start, rest]) => Buffer.concat([Buffer.from(start, 'latin1'), rest]))
const changed = fc
  .tuple(fc.oneof(version1, version2), fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { maxLength: 3 }))
  .map(([bytes, changes]) => {
    const copy = Buffer.from(bytes)
    for (const [at, value] of changes) copy[at % copy.length] = value
    return copy
  })

describe('readProxyHeader', () => {
  it('gives one verdict, at whatever byte it looks', () => {
    expect.hasAssertions()
    fc.assert(
      fc.property(fc.oneof(anything, changed), additions, rule, (header, behind, given) => {
        const bytes = Buffer.concat([header, behind])
        const whole = readProxyHeader(bytes, given)
        for (let length = 0; length < bytes.length; length++) {
          const part = readProxyHeader(bytes.subarray(0, length), given)
          if (part.kind !== 'More') expect(part).toEqual(whole)
          else if (whole.kind === 'Header') expect(length).toBeLessThan(whole.length)
        }
      }),
      { numRuns: 600 },
    )
  })

  it('reads every header it is given whole', () => {
    fc.assert(
      fc.property(fc.oneof(version1, version2), (bytes) => {
        const outcome = readProxyHeader(bytes, { version: 'All', isRequired: true })
        expect(outcome).toMatchObject({ kind: 'Header', length: bytes.length })
        expect(outcome).toHaveProperty('addresses.sourceAddress')
      }),
      { numRuns: 600 },
    )
  })

  it('never waits beyond its bounds', () => {
    fc.assert(
      fc.property(anything, rule, (start, given) => {
        const bytes = Buffer.concat([start, Buffer.alloc(4200)])
        expect(readProxyHeader(bytes, given).kind).not.toBe('More')
      }),
    )
  })
})
