// The TLS sample of the standalone form as users run it: HTTPS with retries, passthrough by server name, plain TCP.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect as connectTls, type ConnectionOptions, createServer as createTlsServer } from 'node:tls'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort, listening } from '#test/ports.ts'
import { ANY_PORTS, GwProcess, until } from './gw.ts'

const run = promisify(execFile)

let folder = ''
let gateway: GwProcess | undefined
let closeServers: () => void = () => undefined
const ports = { https: 0, tcp: 0 }
const seen: string[] = []

async function certificate(name: string): Promise<{ cert: string; key: string }> {
  const files = { cert: join(folder, `${name}.pem`), key: join(folder, `${name}-key.pem`) }
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  const names = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`]
  await run('openssl', [
    'req',
    '-x509',
    '-nodes',
    '-days',
    '2',
    ...curve,
    ...names,
    '-keyout',
    files.key,
    '-out',
    files.cert,
  ])
  return files
}

async function curl(...args: readonly string[]): Promise<string> {
  const { stdout } = await run('curl', ['-sS', '--max-time', '10', ...args])
  return stdout
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-standalone-tls-'))
  const shop = await certificate('shop.localhost')
  const vault = await certificate('vault.localhost')
  const http = createServer((request, response) => {
    seen.push(request.url ?? '')
    response.statusCode = request.url === '/flaky' && seen.length === 1 ? 503 : 200
    response.end('shop')
  })
  const secure = createTlsServer({ cert: readFileSync(vault.cert), key: readFileSync(vault.key) }, (socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end('HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nvault'))
  })
  const plain = createTcpServer((socket) => socket.on('error', () => undefined).end('bytes'))
  const [echo, vaultPort, database] = [await listening(http), await listening(secure), await listening(plain)]
  closeServers = () => {
    for (const server of [http, secure, plain]) server.close()
  }
  ports.https = await freePort()
  ports.tcp = await freePort()
  gateway = new GwProcess(['run', '-f', 'config/samples/standalone/tls.yaml', ...ANY_PORTS], {
    HTTPS_PORT: String(ports.https),
    TCP_PORT: String(ports.tcp),
    CERT_FILE: shop.cert,
    KEY_FILE: shop.key,
    ECHO_ADDRESS: `127.0.0.1:${echo}`,
    VAULT_ADDRESS: `127.0.0.1:${vaultPort}`,
    DATABASE_ADDRESS: `127.0.0.1:${database}`,
  })
  await gateway.says('gw: serving')
})

afterAll(async () => {
  await gateway?.stop()
  closeServers()
  rmSync(folder, { recursive: true, force: true })
})

const to = (name: string): string[] => ['--resolve', `${name}:${ports.https}:127.0.0.1`]

function fails(options: ConnectionOptions): Promise<void> {
  return new Promise((resolve) => {
    const socket = connectTls(options)
    socket.on('error', () => undefined)
    socket.on('close', () => resolve())
  })
}

describe('the standalone TLS sample', () => {
  it('terminates TLS for its name and retries a failed request', async () => {
    const authority = ['--cacert', join(folder, 'shop.localhost.pem'), ...to('shop.localhost')]
    expect(await curl(...authority, `https://shop.localhost:${ports.https}/flaky`)).toBe('shop')
    expect(seen).toEqual(['/flaky', '/flaky'])
  })

  it('rejects a version below the minimum', async () => {
    const args = [...to('shop.localhost'), '-k', '--tls-max', '1.2', `https://shop.localhost:${ports.https}/`]
    await expect(curl(...args)).rejects.toThrow(/alert protocol version|SSL/)
  })

  it('logs failed handshakes at info, with the cause, at a limited rate', { tags: ['full'] }, async () => {
    const logged = (...causes: readonly string[]): Promise<void> =>
      until(
        causes.join(' or '),
        () => causes.some((cause) => gateway?.stdout.includes(cause) === true),
        () => gateway?.stdout ?? '',
      )
    const options = { host: '127.0.0.1', port: ports.https, servername: 'shop.localhost' }
    await fails({ ...options, maxVersion: 'TLSv1.2', rejectUnauthorized: false })
    await logged('client and listener have no TLS version in common')
    const distrustful = curl(...to('shop.localhost'), `https://shop.localhost:${ports.https}/`)
    await expect(distrustful).rejects.toThrow(/certificate/)
    // On a busy machine the reset of the client's socket may discard its alert.
    await logged('the client rejected the certificate (alert ', 'client closed the connection during the handshake')
    for (let count = 0; count < 20; count++) await fails({ ...options, maxVersion: 'TLSv1.2' })
    const lines = gateway?.stdout.match(/.*TLS handshake failed.*/g) ?? []
    expect(lines[0]).toMatch(
      /\tinfo\trequest TLS handshake failed src\.addr=127\.0\.0\.1:\d+ tls\.sni=shop\.localhost error=/,
    )
    expect(lines.length).toBeLessThanOrEqual(10)
  })

  it('forwards another name to the server that has its key', { tags: ['full'] }, async () => {
    const authority = ['--cacert', join(folder, 'vault.localhost.pem'), ...to('vault.localhost')]
    expect(await curl(...authority, `https://vault.localhost:${ports.https}/`)).toBe('vault')
  })

  it('forwards plain bytes', { tags: ['full'] }, async () => {
    expect(await text(connect(ports.tcp, '127.0.0.1'))).toBe('bytes')
  })
})
