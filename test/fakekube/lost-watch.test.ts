// Readiness reports a kind that cannot be watched for a minute. On virtual time.
import { expect, it } from 'vitest'
import { FakeApi } from './api.ts'
import { startReplica } from './replica.ts'
import { ROUTES } from './scenario.ts'
import { VirtualTime } from './virtual-time.ts'

it('is not ready while routes are not watched, and ready again when they are', async () => {
  const [api, time] = [new FakeApi(), new VirtualTime()]
  const site = { api, time, seed: '1', latencyMs: () => 1, wrongWrites: [] }
  const replica = await startReplica(site, 'alone')
  expect(await time.until(() => replica.operator.isReady(), 10_000)).toBe(true)
  api.fault = ({ resource }) => (resource === ROUTES ? { kind: 'status', status: 403 } : undefined)
  api.dropWatches()
  await time.pass(40_000)
  expect([replica.operator.isReady(), replica.operator.pending()]).toEqual([true, []])
  await time.pass(60_000)
  expect(replica.operator.isReady()).toBe(false)
  expect(replica.operator.pending()).toEqual([expect.stringMatching(/^HTTPRoute \(no watch for \d\d s\)$/)])
  expect(replica.operator.isLeading()).toBe(true)
  expect(replica.log.some((line) => line.includes('watch of httproutes failed'))).toBe(true)
  api.fault = () => undefined
  await time.pass(15_000)
  expect([replica.operator.isReady(), replica.operator.pending()]).toEqual([true, []])
  await replica.stop()
})
