// Credentials are not looked up for each call, but at once when the server rejects them.
import { once } from 'node:events'
import { createServer, type RequestOptions, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { KubeConfig } from '@kubernetes/client-node'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createTransport, type Transport } from './transport.ts'

/** Each look-up finds another token. */
class Rotating extends KubeConfig {
  looks = 0

  override applyToHTTPSOptions(options: RequestOptions): Promise<void> {
    this.looks++
    options.headers = { Authorization: `Bearer ${this.looks}` }
    return Promise.resolve()
  }
}

let server: Server
let config: Rotating
let transport: Transport
let refused = ''

beforeEach(async () => {
  refused = ''
  server = createServer((request, response) => {
    const token = request.headers.authorization ?? ''
    response.writeHead(token === refused ? 401 : 200).end(JSON.stringify({ token }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A listening TCP server has one.
  const { port } = server.address() as AddressInfo
  config = new Rotating()
  const cluster = { name: 'c', server: `http://127.0.0.1:${port}`, skipTLSVerify: true }
  config.loadFromClusterAndUser(cluster, { name: 'u' })
  transport = createTransport(config)
})

afterEach(() => {
  transport.close()
  server.close()
})

async function ask(): Promise<[number, unknown]> {
  const { status, body } = await transport.send({ method: 'GET', path: '/' }, new AbortController().signal)
  return [status, body]
}

it('keeps them from call to call', async () => {
  await ask()
  expect(await ask()).toEqual([200, { token: 'Bearer 1' }])
  expect(config.looks).toBe(1)
})

it('reads them again after a rejected request', async () => {
  await ask()
  refused = 'Bearer 1'
  expect((await ask())[0]).toBe(401)
  expect(await ask()).toEqual([200, { token: 'Bearer 2' }])
})
