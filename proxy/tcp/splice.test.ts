// Ends that came before two sockets were joined.
import { once } from 'node:events'
import net from 'node:net'
import tls from 'node:tls'
import { afterEach, expect, it, vi } from 'vitest'
import { certificateFor } from '#test/certificates.ts'
import { splice } from './splice.ts'

const DEADLINE_MS = 10_000
const pair = certificateFor({ commonName: 'a.test', names: ['DNS:a.test'] })
const cleanup: (() => void)[] = []

afterEach(() => {
  for (const end of cleanup.splice(0)) end()
})

async function accepted(
  server: net.Server,
  event: string,
  connect: (port: number) => net.Socket,
): Promise<{ near: net.Socket; far: net.Socket }> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const far = connect((server.address() as net.AddressInfo).port) // a listening TCP server has one
  const [near] = (await once(server, event)) as [net.Socket] // what these events bring
  for (const socket of [near, far]) socket.on('error', () => {})
  cleanup.push(() => {
    near.destroy()
    far.destroy()
    server.close()
  })
  return { near, far }
}

it('passes on the end of a TLS client that had gone before there was a backend', async () => {
  const options = { cert: pair.certificate, key: pair.privateKey, allowHalfOpen: true }
  const client = await accepted(tls.createServer(options), 'secureConnection', (port) =>
    tls.connect({ host: '127.0.0.1', port, rejectUnauthorized: false }),
  )
  client.far.end()
  await vi.waitUntil(() => client.near.readableEnded, { timeout: DEADLINE_MS })
  const backend = await accepted(net.createServer({ allowHalfOpen: true }), 'connection', (port) =>
    net.connect({ host: '127.0.0.1', port, allowHalfOpen: true }),
  )
  const isOver = new Promise((resolve) => splice(client.near, backend.far, resolve))
  backend.near.resume()
  await once(backend.near, 'end')
  backend.near.end('bye')
  expect(await isOver).toBeUndefined()
})
