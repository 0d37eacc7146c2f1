// Certificates change while clients are busy: no request fails, new handshakes see the new one, old connections drain.
import { Agent, request } from 'node:https'
import { afterEach, describe, expect, it } from 'vitest'
import { authority, certificateFor } from '#test/certificates.ts'
import { freePort } from '#test/ports.ts'
import { until } from '../runtime/config.testing.ts'
import { ask, shakeHands } from './client.testing.ts'
import { startTlsProxy, type TestListener, type TestSetup, type TlsTestProxy } from './proxy.testing.ts'

const ca = authority()
const pairOf = (commonName: string): TestListener['pair'] & object =>
  certificateFor({ commonName, names: ['DNS:a.test'], issuer: ca })

let gateway: TlsTestProxy | undefined
afterEach(() => gateway?.stop())

const setupOf = (port: number, pair: ReturnType<typeof pairOf>, rest: Partial<TestListener> = {}): TestSetup => ({
  listeners: [
    { name: 'main', port, protocol: 'HTTPS', hostname: 'a.test', pair, ...rest },
    { name: 'other', port, protocol: 'HTTPS', hostname: 'b.test', pair: other },
  ],
})
const other = pairOf('other')

interface Load {
  readonly count: () => number
  stop(): Promise<readonly string[]>
}

/** Clients with kept connections that ask without a pause. */
function startLoad(port: number, clients: number): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: clients, ca: ca.certificate, servername: 'a.test' })
  const failures: string[] = []
  let count = 0
  const state = { isOver: false }
  const one = (): Promise<void> =>
    new Promise((resolve) => {
      const failed = (error: Error): void => {
        failures.push(error.message)
        resolve()
      }
      const call = request({ host: '127.0.0.1', port, agent, headers: { host: 'a.test' } }, (response) => {
        response.on('error', failed)
        response.on('end', () => {
          if (response.statusCode === 200) count++
          else failures.push(`status ${response.statusCode}`)
          resolve()
        })
        response.resume()
      })
      call.on('error', failed)
      call.end()
    })
  const loops = Array.from({ length: clients }, async () => {
    while (!state.isOver) await one()
  })
  return {
    count: () => count,
    async stop() {
      state.isOver = true
      await Promise.all(loops)
      agent.destroy()
      return failures
    },
  }
}

describe('certificate rotation', () => {
  it('fails no request under load', { tags: ['full'], timeout: 60_000 }, async () => {
    const port = await freePort()
    const proxy = await startTlsProxy(setupOf(port, pairOf('first')), 2)
    gateway = proxy
    const load = startLoad(port, 8)
    await until('load', () => load.count() > 100)
    for (const name of ['second', 'third', 'fourth']) {
      await proxy.apply(setupOf(port, pairOf(name)))
      const before = load.count()
      await until('the new certificate', async () => {
        const { commonName, socket } = await shakeHands(port, { servername: 'a.test' })
        socket.destroy()
        return commonName === name
      })
      await until('load continues', () => load.count() > before + 200)
    }
    expect(await load.stop()).toEqual([])
  })

  it('drains the connections of the changed listener only', async () => {
    const port = await freePort()
    const first = pairOf('first')
    const proxy = await startTlsProxy(setupOf(port, first))
    gateway = proxy
    const changed = await shakeHands(port, { servername: 'a.test' })
    const idle = await shakeHands(port, { servername: 'a.test' })
    const same = await shakeHands(port, { servername: 'b.test' })
    for (const [{ socket }, host] of [
      [changed, 'a.test'],
      [idle, 'a.test'],
      [same, 'b.test'],
    ] as const) {
      expect((await ask(socket, host)).head).not.toContain('connection: close')
    }
    await proxy.apply(setupOf(port, pairOf('second')))
    expect((await ask(changed.socket, 'a.test')).head.toLowerCase()).toContain('connection: close')
    idle.socket.resume()
    await until('the idle connection is closed', () => idle.socket.destroyed || idle.socket.readableEnded)
    expect((await ask(same.socket, 'b.test')).head).not.toContain('connection: close')
  })

  it('gives open connections new routes at once', async () => {
    const port = await freePort()
    const first = pairOf('first')
    const proxy = await startTlsProxy(setupOf(port, first))
    gateway = proxy
    const { socket } = await shakeHands(port, { servername: 'a.test' })
    expect((await ask(socket, 'a.test')).body).toBe('main')
    await proxy.apply(setupOf(port, first, { answers: 'changed' }))
    const answer = await ask(socket, 'a.test')
    expect(answer.body).toBe('changed')
    expect(answer.head).not.toContain('connection: close')
  })

  it('moves a port from HTTP to HTTPS and back', async () => {
    const port = await freePort()
    const plain: TestSetup = { listeners: [{ name: 'plain', port, protocol: 'HTTP' }] }
    const proxy = await startTlsProxy(plain)
    gateway = proxy
    // Connections that are open when the protocol changes drain under the old one; these are new each time.
    const text = async (): Promise<string> =>
      (await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } })).text()
    expect(await text()).toBe('plain')
    await proxy.apply(setupOf(port, pairOf('first')))
    expect((await shakeHands(port, { servername: 'a.test' })).commonName).toBe('first')
    await expect(text()).rejects.toThrow('fetch failed')
    await proxy.apply(plain)
    expect(await text()).toBe('plain')
  })
})
