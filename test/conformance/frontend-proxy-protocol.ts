// frontend.proxyProtocol: the source address behind a load balancer.
import { once } from 'node:events'
import net from 'node:net'
import { expect } from 'vitest'
import { replacing, type ConformanceCase } from './suite/case.ts'
import { overTls, secured, textFrom } from './suite/https.ts'

const SAMPLE = 'frontend-proxy-protocol.yaml'
const REQUEST = 'GET / HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n\r\n'
const LINE = 'PROXY TCP4 203.0.113.7 198.51.100.1 4711 443\r\n'
const BLOCK = Buffer.from('0d0a0d0a000d0a515549540a2111000ccb007107c6336401126701bb', 'hex')

/** All bytes of the gateway until it closes. */
async function answerTo(port: number, ...parts: readonly (string | Buffer)[]): Promise<string> {
  const socket = net.connect({ host: '127.0.0.1', port })
  const chunks: Buffer[] = []
  socket.on('error', () => undefined)
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  // Not `once`: a reset is a valid result too.
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => resolve())
  })
  await once(socket, 'connect')
  for (const part of parts) socket.write(part)
  await closed
  return Buffer.concat(chunks).toString('latin1')
}

/** The same with additions: a name (type 2), TLS facts with a nested version (32, 33), and an unknown one (224). */
const WITH_ADDITIONS = ((): Buffer => {
  const addition = (type: number, value: Buffer): Buffer => Buffer.from([type, 0, value.length, ...value])
  const facts = Buffer.concat([Buffer.from('0700000000', 'hex'), addition(33, Buffer.from('TLSv1.3'))])
  const additions = [addition(2, Buffer.from('edge.example.com')), addition(32, facts), addition(224, Buffer.alloc(99))]
  const block = Buffer.concat([BLOCK, ...additions])
  // Length of everything after the first sixteen bytes.
  block.writeUInt16BE(block.length - 16, 14)
  return block
})()

const CLIENT = '"x-client": "203.0.113.7"'

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'ProxyProtocol',
    description: 'the header of either version sets the source address',
    sample: SAMPLE,
    async run(gateway) {
      const { port } = gateway
      expect(await answerTo(port, LINE, REQUEST)).toContain(CLIENT)
      expect(await answerTo(port, Buffer.concat([BLOCK, Buffer.from(REQUEST)]))).toContain(CLIENT)
      await expect.poll(() => gateway.log()).toContain('src.addr=203.0.113.7:4711')
      expect(await gateway.dump()).toMatchObject({ binds: [{ tunnelProtocol: 'proxy' }] })
    },
  },
  {
    shortName: 'ProxyProtocolStrict',
    description: 'a connection without the header is closed without a response',
    sample: SAMPLE,
    async run(gateway) {
      const { port } = gateway
      expect(await answerTo(port, REQUEST)).toBe('')
      await expect.poll(() => gateway.log()).toContain('PROXY header is missing')
    },
  },
  {
    shortName: 'ProxyProtocolVersion',
    description: 'a header of a version that is not accepted closes the connection',
    sample: SAMPLE,
    change: replacing('version: All', 'version: V2'),
    async run({ port }) {
      expect(await answerTo(port, LINE, REQUEST)).toBe('')
      expect(await answerTo(port, BLOCK, REQUEST)).toContain(CLIENT)
    },
  },
  {
    shortName: 'ProxyProtocolOptional',
    description: 'connections may begin with or without the header',
    sample: SAMPLE,
    change: replacing('mode: Strict', 'mode: Optional'),
    async run(gateway) {
      expect(await answerTo(gateway.port, LINE, REQUEST)).toContain(CLIENT)
      expect((await gateway.echo('/')).headers['x-client']).toBe('127.0.0.1')
    },
  },
  {
    shortName: 'ProxyProtocolAuthorization',
    description: 'network authorization checks the address of the header',
    sample: SAMPLE,
    change: replacing(
      '    proxyProtocol:',
      '    networkAuthorization: {policy: {matchExpressions: [source.address == "203.0.113.7"]}}\n    proxyProtocol:',
    ),
    async run({ port }) {
      expect(await answerTo(port, LINE, REQUEST)).toContain(CLIENT)
      expect(await answerTo(port, LINE.replace('203.0.113.7', '203.0.113.8'), REQUEST)).toBe('')
    },
  },
  {
    shortName: 'ProxyProtocolText',
    description: 'if only the text form is accepted, the binary one closes the connection',
    sample: SAMPLE,
    change: replacing('version: All', 'version: V1'),
    async run({ port }) {
      expect(await answerTo(port, BLOCK, REQUEST)).toBe('')
      expect(await answerTo(port, LINE, REQUEST)).toContain(CLIENT)
    },
  },
  {
    shortName: 'ProxyProtocolAdditions',
    description: 'additions of the binary form are skipped, complete and in pieces',
    sample: SAMPLE,
    async run({ port }) {
      expect(await answerTo(port, Buffer.concat([WITH_ADDITIONS, Buffer.from(REQUEST)]))).toContain(CLIENT)
      expect(await answerTo(port, WITH_ADDITIONS.subarray(0, 60), WITH_ADDITIONS.subarray(60), REQUEST)).toContain(
        CLIENT,
      )
    },
  },
  {
    shortName: 'ProxyProtocolTLS',
    description: 'the header precedes the handshake, and a handshake without it is closed',
    sample: SAMPLE,
    change: overTls('frontend-proxy-protocol'),
    async run({ port }) {
      const socket = net.connect({ host: '127.0.0.1', port })
      await once(socket, 'connect')
      socket.write(WITH_ADDITIONS)
      expect(await textFrom(await secured({ socket }), '/')).toContain(CLIENT)
      await expect(secured({ port })).rejects.toThrow(/socket disconnected|ECONNRESET/)
    },
  },
]
