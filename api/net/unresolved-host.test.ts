// Hosts that a proxy on the way would resolve: addresses in every spelling, and names of denied addresses.
import { describe, expect, it } from 'vitest'
import { addressGuard } from './address-guard.ts'
import { admitsUnresolved } from './unresolved-host.ts'

const GUARD = addressGuard({ allowed: [], own: [] })

describe('admitsUnresolved', () => {
  it.each([
    '127.0.0.1',
    '127.0.0.1.',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0X7F.0.0.1',
    '0x7f.0x0.0x0.0x1',
    '169.254.169.254',
    '2852039166',
    '0xa9fea9fe',
    '169.254.43518',
    '169.16689662',
    '0',
    '::1',
    '::ffff:169.254.169.254',
    'fd00:ec2::254',
    '100.100.100.200',
    'localhost',
    'LocalHost.',
    'a.localhost',
    'metadata',
    'metadata.google.internal',
    'Metadata.Google.Internal.',
    'metadata.goog',
    'instance-data',
    'instance-data.ec2.internal',
    'localhost4',
    'localhost6.localdomain6',
    'ip6-allnodes',
    'localhost..',
    // Letters that names have in another form: full width, an ideographic stop, a soft hyphen.
    '\uff2c\uff2f\uff23\uff21\uff2c\uff28\uff2f\uff33\uff34',
    '127\u30020\u30020\u30021',
    'lo\u00adcalhost',
    'metadata\u3002google\u3002internal',
  ])('refuses %s', (host) => {
    expect(admitsUnresolved(host, GUARD)).toBe(false)
  })

  it.each(['0177.0.0.1', '010.0.0.1', '1.2.3.4.5', '256.1.1.1', '1.2.3.256', '4294967296', '0x', 'a.1', '1.2.3.x.4'])(
    'refuses %s, which is no name and no address that all agree on',
    (host) => {
      expect(admitsUnresolved(host, () => true)).toBe(false)
    },
  )

  it.each([
    'example.com',
    'metadata.example.com',
    'localhost.example.com',
    '1.example.com',
    '93.184.216.34',
    '2001:db8::1',
  ])('admits %s', (host) => {
    expect(admitsUnresolved(host, GUARD)).toBe(true)
  })

  it.each([
    ['93.55324', '93.0.216.28'],
    ['1', '0.0.0.1'],
    ['4294967295', '255.255.255.255'],
    ['1.2.772', '1.2.3.4'],
  ])('%s is %s', (host, address) => {
    const asked: string[] = []
    admitsUnresolved(host, (one) => asked.push(one) > 0)
    expect(asked).toEqual([address])
  })

  it('admits the names of an allowed address as well', () => {
    const lenient = addressGuard({ allowed: ['127.0.0.1'], own: [] })
    expect(['localhost', '127.1', 'metadata.google.internal'].map((host) => admitsUnresolved(host, lenient))).toEqual([
      true,
      true,
      false,
    ])
  })
})
