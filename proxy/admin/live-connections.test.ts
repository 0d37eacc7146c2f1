import type net from 'node:net'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { components } from '#api/admin/types.gen.ts'
import type { Bind } from '#api/ir/types.gen.ts'
import { certificateFor } from '#test/certificates.ts'
import { freePort } from '#test/ports.ts'
import { shakeHands } from '../tls/client.testing.ts'
import { startTlsProxy, type TlsTestProxy } from '../tls/proxy.testing.ts'
import { connectionsOf } from './live-connections.ts'

type Connections = components['schemas']['Connections']

const bind = (port: number, protocol: Bind['protocol'] = 'HTTP'): Bind => ({ key: `b${port}`, port, protocol })
const listener = (name: string, bindKey: string) => ({
  key: name,
  bindKey,
  name: { gatewayNamespace: 'ns', gatewayName: 'gw', listenerName: name },
  protocol: 'HTTP' as const,
})

describe('connectionsOf', () => {
  it('adds up the workers, and has no count for listeners that share a port without TLS', () => {
    const config = {
      binds: [bind(80), bind(81), bind(443, 'TLS')],
      listeners: [listener('only', 'b80'), listener('a', 'b81'), listener('b', 'b81'), listener('tls', 'b443')],
    }
    const tls = [{ gateway: 'ns/gw', listener: 'tls', open: 2 }]
    const worker = {
      endpoints: [],
      ports: [
        { port: 80, open: 3, listeners: [] },
        { port: 81, open: 4, listeners: [] },
        { port: 443, open: 5, listeners: tls },
      ],
    }
    const { workers, listeners } = connectionsOf(config, [worker, worker])
    expect(workers).toBe(2)
    expect(listeners.map((one) => [one.bind, one.listener, one.ofPort, one.ofListener])).toEqual([
      ['b80', 'only', 6, 6],
      ['b81', 'a', 8, null],
      ['b81', 'b', 8, null],
      ['b443', 'tls', 10, 4],
    ])
  })

  it('has zeros while no worker answers', () => {
    const config = { binds: [bind(80)], listeners: [listener('only', 'b80')] }
    expect(connectionsOf(config, [])).toMatchObject({ workers: 0, listeners: [{ ofPort: 0, ofListener: 0 }] })
  })
})

describe('/connections', () => {
  let gateway: TlsTestProxy
  let plain: number
  let secure: number
  const sockets: net.Socket[] = []

  beforeAll(async () => {
    plain = await freePort()
    secure = await freePort()
    const pair = certificateFor({ commonName: 'm', names: ['DNS:*.test'] })
    const https = { port: secure, protocol: 'HTTPS', pair } as const
    gateway = await startTlsProxy(
      {
        listeners: [
          { name: 'plain', port: plain, protocol: 'HTTP' },
          { ...https, name: 'one', hostname: 'one.test' },
          { ...https, name: 'two', hostname: 'two.test' },
        ],
      },
      2,
    )
  })

  afterAll(async () => {
    for (const socket of sockets) socket.destroy()
    await gateway.stop()
  })

  const read = async (): Promise<Connections> =>
    (await (await fetch(`http://127.0.0.1:${gateway.proxy.ports.admin}/connections`)).json()) as Connections
  const counts = async (): Promise<unknown> =>
    (await read()).listeners.map(({ listener: name, ofPort, ofListener }) => [name, ofPort, ofListener])

  it('has the connections of each listener, and those in a handshake with the port', async () => {
    for (const [name, count] of [
      ['one.test', 2],
      ['two.test', 1],
    ] as const) {
      for (let i = 0; i < count; i++) sockets.push((await shakeHands(secure, { servername: name })).socket)
    }
    const silent = connect({ host: '127.0.0.1', port: secure })
    sockets.push(connect({ host: '127.0.0.1', port: plain }), silent)
    await expect.poll(counts).toEqual([
      ['plain', 1, 1],
      ['one', 4, 2],
      ['two', 4, 1],
    ])
    sockets[0]?.destroy()
    silent.destroy()
    await expect.poll(counts).toEqual([
      ['plain', 1, 1],
      ['one', 2, 1],
      ['two', 2, 1],
    ])
    expect((await read()).workers).toBe(2)
  })

  it('is closed to pages of other origins', async () => {
    const answer = await fetch(`http://127.0.0.1:${gateway.proxy.ports.admin}/connections`, {
      headers: { 'sec-fetch-site': 'cross-site' },
    })
    expect(answer.status).toBe(403)
  })
})
