import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressGuard, isAddressRange } from './address-guard.ts'

const guard = addressGuard([], ['10.1.2.3', '2001:db8::99'])

describe('addressGuard', () => {
  it.each([
    '127.0.0.1',
    '127.255.255.255',
    '0.0.0.0',
    '169.254.169.254',
    '169.254.0.1',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    '224.0.0.1',
    '239.255.255.255',
    '255.255.255.255',
    '::',
    '::1',
    '0:0:0:0:0:0:0:1',
    'fe80::1',
    'fe80::1%eth0',
    'febf::1',
    'ff02::1',
    'fd00:ec2::254',
    'fd20:ce::254',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::FFFF:169.254.169.254',
    '::ffff:0:169.254.169.254',
    '::169.254.169.254',
    '64:ff9b::169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::a9fe:a9fe',
    '2002:7f00:1::',
    '2002:a9fe:a9fe::1',
    '10.1.2.3',
    '::ffff:10.1.2.3',
    '2001:db8::99',
  ])('%s is no destination', (address) => {
    expect(guard(address)).toBe(false)
  })

  it.each([
    '10.1.2.4',
    '192.168.0.1',
    '126.255.255.255',
    '128.0.0.1',
    '169.253.255.255',
    '170.0.0.0',
    '8.8.8.8',
    '223.255.255.255',
    '2001:db8::98',
    '2606:4700::1111',
    '64:ff9b::8.8.8.8',
    '2002:808:808::1',
    'fd00:ec2::253',
    '::ffff:8.8.8.8',
  ])('%s is one', (address) => {
    expect(guard(address)).toBe(true)
  })

  it('lets what is allowed through, and nothing beside it', () => {
    const open = addressGuard(['127.0.0.8/30', '::1'], [])
    expect(['127.0.0.8', '127.0.0.11', '::1'].map(open)).toEqual([true, true, true])
    expect(['127.0.0.7', '127.0.0.12', '169.254.169.254', 'fe80::1'].map(open)).toEqual([false, false, false, false])
  })

  it('knows its own addresses', () => {
    const own = addressGuard(['0.0.0.0/0', '::/0'])
    expect(own('127.0.0.1')).toBe(true)
  })

  it('takes an IPv4 address for the same in every form', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const hex = address
          .split('.')
          .map((byte) => Number(byte).toString(16).padStart(2, '0'))
          .join('')
        const words = `${hex.slice(0, 4)}:${hex.slice(4)}`
        const forms = [`::ffff:${address}`, `::ffff:${words}`, `64:ff9b::${words}`, `2002:${words}::`]
        expect(forms.map(guard)).toEqual(forms.map(() => guard(address)))
      }),
    )
  })

  it('gives a verdict on every IPv6 address', () => {
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
  ['', false],
])('%j as an entry of the allowed: %s', (text, isRange) => {
  expect(isAddressRange(text)).toBe(isRange)
})
