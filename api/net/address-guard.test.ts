import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressGuard, isAddressRange, LOOPBACK, ownAddresses } from './address-guard.ts'
import { ADMITTED_ADDRESSES, DENIED_ADDRESSES } from './address-table.testing.ts'

const guard = addressGuard({ allowed: [], own: ['10.1.2.3', '2001:db8::99'] })

describe('addressGuard', () => {
  it.each([...DENIED_ADDRESSES, '10.1.2.3', '::ffff:10.1.2.3', '2002:a01:203::', '2001:db8::99'])(
    'denies %s',
    (address) => {
      expect(guard(address)).toBe(false)
    },
  )

  it.each(ADMITTED_ADDRESSES)('admits %s', (address) => {
    expect(guard(address)).toBe(true)
  })

  it('admits only allowed addresses of the list', () => {
    const open = addressGuard({ allowed: ['127.0.0.8/30', '::1'], own: [] })
    expect(['127.0.0.8', '127.0.0.11', '::1'].map(open)).toEqual([true, true, true])
    expect(['127.0.0.7', '127.0.0.12', '169.254.169.254', 'fe80::1'].map(open)).toEqual([false, false, false, false])
  })

  it('admits only loopback if loopback is allowed', () => {
    const open = addressGuard({ allowed: LOOPBACK, own: [] })
    expect(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'].map(open)).toEqual([true, true, true, true])
    expect(['169.254.169.254', '0.0.0.0', '::'].map(open)).toEqual([false, false, false])
  })

  it('denies the addresses of this host', () => {
    const own = ownAddresses()
    expect(own).toContain('127.0.0.1')
    expect(own.map(addressGuard({ allowed: [], own }))).toEqual(own.map(() => false))
  })

  it('treats every form of an IPv4 address alike', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const bytes = address.split('.').map(Number)
        const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')
        const words = `${hex.slice(0, 4)}:${hex.slice(4)}`
        const turned = bytes.map((byte) => (byte ^ 0xff).toString(16).padStart(2, '0')).join('')
        const forms = [
          `::ffff:${address}`,
          `::ffff:${words}`,
          `::ffff:0:${words}`,
          `64:ff9b::${words}`,
          `2002:${words}::`,
          `2001:0:${words}:0:0:f7f7:f7f7`,
          `2001:0:808:808:0:0:${turned.slice(0, 4)}:${turned.slice(4)}`,
          `2001:db8::5efe:${words}`,
          `2001:db8::200:5efe:${words}`,
        ]
        expect(forms.map(guard)).toEqual(forms.map(() => guard(address)))
      }),
    )
  })

  it('returns a result for every IPv6 address', () => {
    expect.hasAssertions()
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        expect(guard(address)).toBeTypeOf('boolean')
      }),
    )
  })
})

it.each([
  ['10.0.0.0/8', true],
  ['::1', true],
  ['fd00::/7', true],
  ['10.0.0.0/33', false],
  ['10.0.0/8', false],
  ['::1/129', false],
  ['10.0.0.0/8/8', false],
  ['10.0.0.0/', false],
  ['metadata', false],
  ['fe80::1%eth0', false],
  ['', false],
])('%j as an entry of the allowed: %s', (text, isRange) => {
  expect(isAddressRange(text)).toBe(isRange)
})
