// Listeners that let in clients without a valid certificate (AllowInsecureFallback): no client is reset, however its
// handshake is cut into packets and records, with and without a server name.
// @module-tag full
import { once } from 'node:events'
import net from 'node:net'
import { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import tls from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { authority, certificateFor } from '#test/certificates.ts'
import { freePort } from '#test/ports.ts'
import { ask } from './client.testing.ts'
import { startTlsProxy, type TlsTestProxy } from './proxy.testing.ts'

const ca = authority()
/** OpenSSL finds the trusted authority by its name, and fails at the signature. */
const forged = certificateFor({ commonName: 'client', issuer: authority(), hasKeyIdentifiers: false })

let port: number
let gateway: TlsTestProxy

beforeAll(async () => {
  port = await freePort()
  gateway = await startTlsProxy({
    listeners: [
      {
        name: 'fallback',
        port,
        protocol: 'HTTPS',
        pair: certificateFor({ commonName: 'm', names: ['DNS:m.test'], issuer: ca }),
        tls: { clientCertificates: { mode: 'AllowInsecureFallback', caCertificates: ca.certificate } },
        answers: '=has(source.subjectCn) ? source.subjectCn : "anonymous"',
      },
    ],
  })
})
afterAll(() => gateway.stop())

/** What one write of the client becomes; `index` counts its writes. */
type Cut = (bytes: Buffer, index: number) => readonly Buffer[]

/** A way to the gateway on which every piece is a packet of its own: each waits for the one before to be sent. */
class Pieces extends Duplex {
  readonly #socket: net.Socket
  readonly #cut: Cut
  #writes = 0

  constructor(cut: Cut) {
    super()
    this.#cut = cut
    this.#socket = net.connect({ host: '127.0.0.1', port, noDelay: true })
    this.#socket.on('data', (bytes) => this.push(bytes))
    this.#socket.on('end', () => this.push(null))
    this.#socket.on('error', (error) => this.destroy(error))
  }

  override _read(): void {}

  override _write(bytes: Buffer, _encoding: string, done: (error?: Error) => void): void {
    void this.#send(this.#cut(bytes, this.#writes++)).then(() => done(), done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }

  async #send(pieces: readonly Buffer[]): Promise<void> {
    for (const piece of pieces) {
      this.#socket.write(piece)
      await sleep(1)
    }
  }
}

const at =
  (...offsets: readonly number[]): Cut =>
  (bytes) => {
    const ends = [...offsets.filter((offset) => offset < bytes.length), bytes.length]
    return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
  }

const everyByte: Cut = (bytes) => Array.from(bytes, (_byte, index) => bytes.subarray(index, index + 1))

/** The ClientHello as two records. */
const inRecords =
  (offset: number): Cut =>
  (bytes, index) => {
    if (index > 0) return [bytes]
    const [head, payload] = [bytes.subarray(0, 3), bytes.subarray(5)]
    return [payload.subarray(0, offset), payload.subarray(offset)].map((part) =>
      Buffer.concat([head, Buffer.from([part.length >> 8, part.length & 255]), part]),
    )
  }

async function answerTo(cut: Cut, options: tls.ConnectionOptions): Promise<string> {
  const way = new Pieces(cut)
  const socket = tls.connect({
    socket: way,
    rejectUnauthorized: false,
    cert: forged.certificate,
    key: forged.privateKey,
    // Key shares of today's default would make every ClientHello four times as long.
    ecdhCurve: 'X25519:P-256',
    ...options,
  })
  try {
    await once(socket, 'secureConnect')
    socket.on('error', () => {})
    return (await ask(socket, 'm.test')).body
  } catch (error) {
    return String(error)
  } finally {
    socket.destroy()
    way.destroy()
  }
}

/** Handshakes at a time. */
const AT_ONCE = 16

/** Those that went wrong, by name. */
async function failuresOf(cuts: ReadonlyMap<string, Cut>, options: tls.ConnectionOptions): Promise<unknown> {
  const failures: Record<string, string> = {}
  const rest = [...cuts]
  while (rest.length > 0) {
    await Promise.all(
      rest.splice(0, AT_ONCE).map(async ([name, cut]) => {
        const answer = await answerTo(cut, options)
        if (answer !== 'anonymous') failures[name] = answer.trim()
      }),
    )
  }
  return failures
}

const OFFSETS = [...Array.from({ length: 64 }, (_, index) => index + 1), 100, 150, 200, 250, 400, 600]

const CUTS = new Map<string, Cut>([
  ['whole', (bytes) => [bytes]],
  ['every byte', everyByte],
  ['in tens', (bytes) => at(...Array.from({ length: 200 }, (_, index) => index * 10 + 10))(bytes, 0)],
  ...OFFSETS.map((offset) => [`at ${offset}`, at(offset)] as const),
  ...OFFSETS.slice(0, -3).map((offset) => [`records at ${offset}`, inRecords(offset)] as const),
])

const SOME = new Map([...CUTS].filter((_, index) => index < 3 || index % 8 === 0))

/** The longest test runs once in `make test`. */
const VERSIONS = [
  { maxVersion: 'TLSv1.3', tags: [] },
  { maxVersion: 'TLSv1.2', tags: ['full'] },
] as const

describe.each(VERSIONS)('$maxVersion', ({ maxVersion, tags }) => {
  it('a client with a certificate of a forger is served without a server name', { tags: [...tags] }, async () => {
    expect(await failuresOf(CUTS, { maxVersion })).toEqual({})
  })

  it('a client with a certificate of a forger is served with a server name', async () => {
    expect(await failuresOf(SOME, { maxVersion, servername: 'm.test' })).toEqual({})
  })

  it('a client without a certificate is served without a server name', async () => {
    expect(await failuresOf(SOME, { maxVersion, cert: undefined, key: undefined })).toEqual({})
  })
})
