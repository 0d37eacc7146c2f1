// Readiness of the proxy: when it may be given traffic. Real workers.
import { afterEach, expect, it } from 'vitest'
import { NO_SECRETS, answering, freePort, until } from './config.testing.ts'
import { once } from './load.testing.ts'
import { startTestProxy, stopTestProxies } from './start.testing.ts'

afterEach(stopTestProxies)

/** Dead workers stay away for good. */
const NEVER = { died: () => 3_600_000 }

it('is not ready before every worker serves the configuration', async () => {
  const waits = [0, 3_600_000]
  const test = await startTestProxy({}, () => ({ died: () => waits.pop() ?? 0 }))
  const ready = (): Promise<string> => test.text('readiness', '/healthz/ready')
  expect(await ready()).toBe('not ready, pending: configuration\n')
  const port = await freePort()
  // Kills both: the one comes back at once, the other one does not.
  expect(await test.proxy.apply(answering([port], 'x', 'deadly'), NO_SECRETS)).toHaveProperty('problem')
  await until('both died', async () => (await test.metric('gw_worker_restarts_total')) === 2)
  expect(await test.proxy.apply(answering([port], 'good'), NO_SECRETS)).toMatchObject({ warnings: [] })
  expect((await once(port)).body).toBe('good')
  expect(await ready()).toBe('not ready, pending: workers\n')
})

it('is ready when all serve, and stays so while one does', async () => {
  const test = await startTestProxy({}, () => NEVER)
  const ready = (): Promise<string> => test.text('readiness', '/healthz/ready')
  const port = await freePort()
  await test.proxy.apply(answering([port], 'good'), NO_SECRETS)
  expect(await ready()).toBe('ready\n')
  await expect(once(port, '/exit')).rejects.toThrow('connection closed')
  await until('one serves', async () => (await test.metric('gw_workers{state="serving"}')) === 1)
  expect(await ready()).toBe('ready\n')
  await expect(once(port, '/exit')).rejects.toThrow('connection closed')
  await until('none serves', async () => (await test.metric('gw_workers{state="serving"}')) === 0)
  expect(await ready()).toBe('not ready, pending: workers\n')
})
