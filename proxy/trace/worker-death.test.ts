// Watches while workers die: a waiting watch continues, and a watch whose request is lost ends with the reason.
import { createServer, type Server } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { answering, freePort, NO_SECRETS, relaying, until } from '../runtime/config.testing.ts'
import { once } from '../runtime/load.testing.ts'
import { startTestProxy, stopTestProxies } from '../runtime/start.testing.ts'
import { messageOf, outline, watchTrace } from './watcher.testing.ts'

const servers: Server[] = []

afterEach(async () => {
  await stopTestProxies()
  for (const server of servers.splice(0)) closeServer(server)
})

describe('a watch', () => {
  it('outlives the worker that waited for it, and is armed in the next one', async () => {
    const test = await startTestProxy({ workers: 1 })
    const port = await freePort()
    await test.proxy.apply(answering([port], 'alive'), NO_SECRETS)
    const watcher = await watchTrace({ adminPort: test.proxy.ports.admin })
    await expect(once(port, '/exit')).rejects.toThrow('connection closed')
    await until('the worker is back', async () => (await test.metric('gw_workers{state="serving"}')) === 1)
    expect((await once(port, '/after')).body).toBe('alive')
    const events = await watcher.ended
    expect(messageOf(events, 'requestSnapshot', 'initial request').requestState).toMatchObject({
      request: { path: '/after' },
    })
    expect(outline(events).at(-1)).toBe('requestFinished')
  })

  it('ends with the worker that had its request', async () => {
    const test = await startTestProxy({ workers: 1 })
    const port = await freePort()
    let isAsked = false
    const silent = createServer(() => {
      isAsked = true
    })
    servers.push(silent)
    await test.proxy.apply(relaying([port], await listening(silent)), NO_SECRETS)
    const watcher = await watchTrace({ adminPort: test.proxy.ports.admin })
    const lost = once(port, '/waits').then(
      () => 'answered',
      (error: unknown) => String(error),
    )
    await until('the backend has the request', () => isAsked)
    await expect(once(port, '/exit')).rejects.toThrow('connection closed')
    expect(await lost).toContain('connection closed')
    const events = await watcher.ended
    expect(outline(events)).toContain('backendCallStart')
    expect(events.at(-1)).toMatchObject({
      severity: 'error',
      message: { type: 'requestFinished', error: 'the worker that had the request died' },
    })
  })
})
