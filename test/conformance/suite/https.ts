// Listeners with TLS for samples without TLS, with certificates created on demand, and clients of them.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import tls from 'node:tls'
import { stringify } from 'yaml'
import { certificateFor, type KeyPair } from '#test/certificates.ts'
import { all, changing } from './case.ts'

const HOST = 'edge.example.com'

let pairs: Readonly<Record<'ec' | 'rsa', KeyPair>> | undefined

/** A Secret `edge-ec` or `edge-rsa` with a certificate for edge.example.com. */
export function secretOf(kind: 'ec' | 'rsa', namespace = 'default'): object {
  const options = { commonName: 'edge', names: [`DNS:${HOST}`] }
  pairs ??= { ec: certificateFor(options), rsa: certificateFor({ ...options, key: 'RSA' }) }
  const { certificate, privateKey } = pairs[kind]
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `edge-${kind}`, namespace },
    type: 'kubernetes.io/tls',
    stringData: { 'tls.crt': certificate, 'tls.key': privateKey },
  }
}

/** Replaces the listeners of the Gateway by one with TLS, which has a certificate of each kind of key. */
export function overTls(gateway: string, protocol: 'HTTPS' | 'TLS' = 'HTTPS'): (manifests: string) => string {
  const certificateRefs = [{ name: 'edge-ec' }, { name: 'edge-rsa' }]
  const listeners = [{ name: 'http', port: 8080, protocol, tls: { mode: 'Terminate', certificateRefs } }]
  return all(changing(`Gateway/${gateway}`, { listeners }), (manifests) =>
    [manifests, stringify(secretOf('ec')), stringify(secretOf('rsa'))].join('---\n'),
  )
}

/** A connection after its handshake. */
export async function secured(options: tls.ConnectionOptions): Promise<tls.TLSSocket> {
  const socket = tls.connect({ host: '127.0.0.1', servername: HOST, rejectUnauthorized: false, ...options })
  await once(socket, 'secureConnect')
  socket.on('error', () => undefined)
  return socket
}

/** The response to a GET with connection: close. */
export async function textFrom(socket: tls.TLSSocket, path: string): Promise<string> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  const closed = once(socket, 'close')
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${HOST}\r\nconnection: close\r\n\r\n`)
  await closed
  return Buffer.concat(chunks).toString('latin1')
}

/** The report of `openssl s_client -brief` about its handshake, as `name: value` lines, or about its failure. */
export async function opensslClient(port: number, ...args: readonly string[]): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const fixed = ['s_client', '-brief', '-connect', `127.0.0.1:${port}`, '-servername', HOST]
  const client = execFile('openssl', [...fixed, ...args], (_failure, stdout, stderr) => resolve(stdout + stderr))
  client.stdin?.end()
  return promise
}
