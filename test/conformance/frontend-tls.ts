// frontend.tls: the settings of handshakes. The sample has no certificate; cases that need one create it.
import { once } from 'node:events'
import net from 'node:net'
import type tls from 'node:tls'
import { expect } from 'vitest'
import { all, changing, type ConformanceCase } from './suite/case.ts'
import { opensslClient, overTls, secured } from './suite/https.ts'

const SAMPLE = 'frontend-tls.yaml'

const withCertificate = overTls('frontend-tls')

interface Agreed {
  readonly version: string | null
  readonly cipher: string
  readonly alpn: string | false | null
}

async function handshake(port: number, options: tls.ConnectionOptions): Promise<Agreed> {
  const socket = await secured({ port, ...options })
  const agreed = { version: socket.getProtocol(), cipher: socket.getCipher().name, alpn: socket.alpnProtocol }
  socket.destroy()
  return agreed
}

/** Names in the API and in openssl. */
const SUITES = {
  TLS13_AES_256_GCM_SHA384: 'TLS_AES_256_GCM_SHA384',
  TLS13_AES_128_GCM_SHA256: 'TLS_AES_128_GCM_SHA256',
  TLS13_CHACHA20_POLY1305_SHA256: 'TLS_CHACHA20_POLY1305_SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
}

function ofSuite([suite, name]: readonly [string, string]): ConformanceCase {
  const isNew = suite.startsWith('TLS13_')
  const version = isNew ? '1.3' : '1.2'
  const flag = isNew ? '-ciphersuites' : '-cipher'
  const others = Object.entries(SUITES).filter(([other]) => other !== suite && other.startsWith('TLS13_') === isNew)
  const settings = { cipherSuites: [suite], minProtocolVersion: version, maxProtocolVersion: version }
  return {
    shortName: `FrontendTLS ${suite}`,
    description: 'the only cipher suite of the policy: clients with it connect, others fail',
    sample: SAMPLE,
    change: all(
      changing('GwPolicy/frontend-tls', { frontend: { tls: { ...settings, keyExchangeGroups: null } } }),
      withCertificate,
    ),
    async run({ port }) {
      expect(await opensslClient(port)).toMatch(new RegExp(`^Ciphersuite: ${name}$`, 'm'))
      const without = others.map(([, other]) => other).join(':')
      expect(await opensslClient(port, flag, without)).toContain('handshake failure')
    },
  }
}

/** Names in the API, in openssl and in the report of s_client. The openssl of Node supports X25519MLKEM768. */
const GROUPS = {
  X25519: ['X25519', 'X25519, 253 bits'],
  'P-256': ['P-256', 'ECDH, prime256v1, 256 bits'],
  'P-384': ['P-384', 'ECDH, secp384r1, 384 bits'],
} as const

function ofGroup(group: keyof typeof GROUPS): ConformanceCase {
  const [name, reported] = GROUPS[group]
  return {
    shortName: `FrontendTLS ${group}`,
    description: 'the only key exchange of the policy: clients with it connect, others fail',
    sample: SAMPLE,
    change: all(
      changing('GwPolicy/frontend-tls', { frontend: { tls: { keyExchangeGroups: [group] } } }),
      withCertificate,
    ),
    async run({ port }) {
      expect(await opensslClient(port, '-groups', 'X25519:P-256:P-384')).toMatch(`Server Temp Key: ${reported}\n`)
      const others = Object.keys(GROUPS).filter((other) => other !== name)
      expect(await opensslClient(port, '-groups', others.join(':'))).toContain('handshake failure')
    },
  }
}

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'FrontendTLSPlain',
    description: 'listeners without TLS are not affected',
    sample: SAMPLE,
    async run(gateway) {
      expect((await gateway.echo('/')).server).toBe('echo')
    },
  },
  {
    shortName: 'FrontendTLS',
    description: 'the handshake fails for clients that do not support the settings of the policy',
    sample: SAMPLE,
    change: withCertificate,
    async run(gateway) {
      expect(await handshake(gateway.port, {})).toMatchObject({ version: 'TLSv1.3' })
      await expect(handshake(gateway.port, { maxVersion: 'TLSv1.2' })).rejects.toThrow(/protocol version/)
      await expect(handshake(gateway.port, { ecdhCurve: 'P-384' })).rejects.toThrow(/handshake failure/)
    },
  },
  {
    shortName: 'FrontendTLSOlder',
    description: 'only the versions, cipher suites, groups and protocols of the policy are accepted',
    sample: SAMPLE,
    change: all(
      changing('GwPolicy/frontend-tls', {
        frontend: {
          tls: {
            alpnProtocols: ['http/1.1'],
            minProtocolVersion: '1.2',
            maxProtocolVersion: '1.2',
            cipherSuites: ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384'],
            keyExchangeGroups: ['P-256', 'P-384'],
          },
        },
      }),
      withCertificate,
    ),
    async run({ port }) {
      const agreed = await handshake(port, { ALPNProtocols: ['h2', 'http/1.1'] })
      expect(agreed).toEqual({ version: 'TLSv1.2', cipher: 'ECDHE-ECDSA-AES256-GCM-SHA384', alpn: 'http/1.1' })
      await expect(handshake(port, { minVersion: 'TLSv1.3' })).rejects.toThrow(/protocol version/)
      await expect(handshake(port, { ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' })).rejects.toThrow(/handshake failure/)
      await expect(handshake(port, { ecdhCurve: 'X25519' })).rejects.toThrow(/handshake failure/)
    },
  },
  {
    shortName: 'FrontendTLSHandshakeTimeout',
    description: 'the connection of a client that begins no handshake is closed',
    sample: SAMPLE,
    change: all(
      changing('GwPolicy/frontend-tls', { frontend: { tls: { handshakeTimeout: '100ms' } } }),
      withCertificate,
    ),
    async run({ port }) {
      const socket = net.connect(port, '127.0.0.1')
      socket.on('error', () => undefined)
      await once(socket, 'close')
      expect(socket.bytesRead).toBe(0)
    },
  },
  ...Object.entries(SUITES).map(ofSuite),
  ...(['X25519', 'P-256', 'P-384'] as const).map(ofGroup),
  {
    shortName: 'FrontendTLS X25519_MLKEM768',
    description: 'the only key exchange of the policy: clients with it connect, others fail',
    sample: SAMPLE,
    change: all(
      changing('GwPolicy/frontend-tls', { frontend: { tls: { keyExchangeGroups: ['X25519_MLKEM768'] } } }),
      withCertificate,
    ),
    async run({ port }) {
      expect(await handshake(port, { ecdhCurve: 'X25519MLKEM768' })).toMatchObject({ version: 'TLSv1.3' })
      await expect(handshake(port, { ecdhCurve: 'X25519' })).rejects.toThrow(/handshake failure/)
      expect(await opensslClient(port, '-groups', 'X25519:P-256:P-384')).toContain('handshake failure')
    },
  },
]
