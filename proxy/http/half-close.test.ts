// Tunnels of HTTP/1.1: each direction ends by itself, after an upgrade and after CONNECT, with and without TLS behind.
import { once } from 'node:events'
import type net from 'node:net'
import tls from 'node:tls'
import { afterEach, expect, it } from 'vitest'
import { authority, certificateFor } from '#test/certificates.ts'
import { portOf, type RawClient, startProxy, startUpstream, until } from './server.testing.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

const UPGRADE = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'
const CONNECT = 'CONNECT a.test:443 HTTP/1.1\r\nhost: a.test:443\r\n\r\n'
const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'

const ca = authority()
const pair = certificateFor({ commonName: 'a.test', names: ['DNS:a.test'], issuer: ca })

interface Ends {
  readonly client: RawClient
  /** Of the backend. */
  readonly socket: net.Socket
  readonly heard: () => string
}

/** A TLS backend with half-open sockets. */
async function secure(accept: (socket: net.Socket) => void): Promise<number> {
  const options = { key: pair.privateKey, cert: pair.certificate, allowHalfOpen: true }
  // Documented for net.createServer, whose options these are too; the types leave it out.
  const server = tls.createServer(options as tls.TlsOptions, accept)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push(server)
  return portOf(server)
}

async function tunnel(kind: 'upgrade' | 'connect' | 'upgrade over TLS'): Promise<Ends> {
  let text = ''
  let peer: net.Socket | undefined
  const accept = (socket: net.Socket): void => {
    peer = socket
    socket.on('error', () => {})
    open.push({ close: () => socket.destroy() })
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (!text.endsWith('\r\n\r\n')) return
      text = ''
      socket.write(SWITCH)
    })
  }
  const isTls = kind === 'upgrade over TLS'
  let port: number
  if (isTls) port = await secure(accept)
  else {
    const upstream = await startUpstream(accept, { isManual: true })
    open.push(upstream)
    port = upstream.port
  }
  const trust = { servername: 'a.test', caCertificates: ca.certificate, insecureSkipVerify: undefined }
  const proxy = await startProxy(port, {
    ...(isTls && { target: { tls: { ...trust, alpnProtocols: undefined } } }),
    handle(exchange, respond, { client, target }) {
      if (kind === 'connect') client.tunnel(exchange, target, respond)
      else client.forward(exchange, target, 'a', respond)
    },
  })
  open.push(proxy)
  const client = await proxy.connect()
  await client.send(kind === 'connect' ? CONNECT : UPGRADE).sees('\r\n\r\n')
  await until(() => peer !== undefined, 'the backend')
  if (peer === undefined) throw new Error('no backend')
  return { client, socket: peer, heard: () => text }
}

const KINDS = ['upgrade', 'connect', 'upgrade over TLS'] as const

it.each(KINDS)('%s: a backend that is done sending still hears the client', async (kind) => {
  const { client, socket, heard } = await tunnel(kind)
  socket.removeAllListeners('end')
  socket.end('first')
  await client.sees('first')
  await until(() => client.isEnded, 'the half-close')
  client.send('still here')
  await until(() => heard() !== '', 'the bytes behind the half-close')
  expect(heard()).toBe('still here')
  client.socket.end()
  await until(() => socket.destroyed || socket.readableEnded, 'the end of both')
})

it.each(KINDS)('%s: a client that is done sending still hears the backend', async (kind) => {
  const { client, socket, heard } = await tunnel(kind)
  socket.removeAllListeners('end')
  const ended = once(socket, 'end')
  client.socket.end('last')
  await ended
  expect(heard()).toBe('last')
  socket.end('late')
  expect(await client.ends()).toMatch(/late$/)
})
