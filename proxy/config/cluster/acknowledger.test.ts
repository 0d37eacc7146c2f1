import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Acknowledgement } from '#api/delivery/acknowledgement.ts'
import { isFirst, shardOf, windowMs } from '#api/delivery/acknowledging.ts'
import { until } from '#test/wait.ts'
import { createLogger } from '../../log/logger.ts'
import { parseLevelFilter } from '../../log/level-filter.ts'
import { Acknowledger } from './acknowledger.ts'
import type { KubeClient } from './kube-client.ts'

const PAUSE_MS = 50
const FOR_EVER_MS = 3_600_000
const PATHS = Array.from({ length: 64 }, (_, shard) => `/shard-${shard}`)

let sent: Acknowledgement[]
let patched: string[]
let fails: boolean
let stopping: AbortController

beforeEach(() => {
  sent = []
  patched = []
  fails = false
  stopping = new AbortController()
})

afterEach(() => {
  stopping.abort()
  vi.restoreAllMocks()
})

function acknowledger(gatherMs: number, pod = 'web-1'): Acknowledger {
  const filter = parseLevelFilter('error')
  if ('problem' in filter) throw new Error(filter.problem)
  const logger = createLogger({ format: 'text', filter, write: () => {} }).module('test')
  const none = (): Promise<never> => Promise.reject(new Error('not asked for'))
  const client: KubeClient = {
    get: none,
    watch: none,
    close: () => {},
    patch: (path, body) => {
      patched.push(path)
      if (fails) return Promise.resolve({ status: 500, body: undefined })
      // The form of acknowledgementPatch.
      const text = (body as { data: Record<string, string> }).data[pod] ?? ''
      sent.push(JSON.parse(text) as Acknowledgement)
      return Promise.resolve({ status: 200, body: undefined })
    },
  }
  return new Acknowledger({ client, paths: PATHS, pod, logger, signal: stopping.signal, gatherMs })
}

function word(generation: number, more: Partial<Acknowledgement> = {}): Acknowledgement {
  return { generation, gatewayGeneration: 1, gatewayUid: 'u', revision: `r${generation}`, reads: 2, ...more }
}

const generations = (): number[] => sent.map(({ generation }) => generation)

it.each([
  ['another generation of the Gateway', { gatewayGeneration: 2 }],
  ['another Gateway of the same name', { gatewayUid: 'v' }],
  ['another format', { reads: 3 }],
  ['a refusal', { rejected: { generation: 3, message: 'no' } }],
])('sends at once: %s; the number of a delivery waits', async (_name, more) => {
  const one = acknowledger(FOR_EVER_MS)
  one.say(word(1))
  await until('the first one', () => sent.length === 1)
  one.say(word(2))
  one.say(word(3, more))
  await until('the third one', () => sent.length === 2)
  expect(generations()).toEqual([1, 3])
})

it('sends at once that a rejection is over', async () => {
  const one = acknowledger(FOR_EVER_MS)
  one.say(word(1, { rejected: { generation: 2, message: 'no' } }))
  await until('the refusal', () => sent.length === 1)
  one.say(word(3))
  await until('its end', () => sent.length === 2)
  expect(sent[1]?.rejected).toBeUndefined()
})

it('sends other changes after a delay, only the last one', async () => {
  const one = acknowledger(20)
  one.say(word(1))
  await until('the first one', () => sent.length === 1)
  one.say(word(2))
  one.say(word(3))
  await until('the last one', () => generations().includes(3))
  expect(generations()).toEqual([1, 3])
})

it('retries until it succeeds', async () => {
  fails = true
  const one = acknowledger(FOR_EVER_MS)
  one.say(word(1))
  one.say(word(2))
  fails = false
  await until('the last word', () => sent.length > 0)
  expect(generations()).toEqual([2])
})

/** Pods of a Gateway with as many proxies. */
const pods = Array.from({ length: 2000 }, (_, index) => `web-${index}`)
const PROXIES = 2048
const firstPod = pods.find((pod) => isFirst(pod, PROXIES)) ?? ''
const otherPod = pods.find((pod) => !isFirst(pod, PROXIES)) ?? ''

it('sends to the ConfigMap of its pod where there are many proxies', async () => {
  const one = acknowledger(FOR_EVER_MS, firstPod)
  one.proxies = PROXIES
  one.say(word(1))
  await until('the first one', () => sent.length === 1)
  await one.takeBack()
  const path = `/shard-${shardOf(firstPod, PROXIES)}`
  expect(patched).toEqual([path, path])
})

it('delays also urgent changes of most proxies where there are many', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(1)
  const one = acknowledger(0, otherPod)
  one.proxies = PROXIES
  one.say(word(1))
  one.say(word(1, { rejected: { generation: 2, message: 'no' } }))
  await delay(PAUSE_MS)
  expect(sent).toEqual([])
})

it('after a failed write waits a part of the time of all proxies, not all of it again', async () => {
  const proxies = 256
  const pod = pods.find((name) => !isFirst(name, proxies)) ?? ''
  const random = vi.spyOn(Math, 'random')
  // The delay, the pause after the failed write, and what a second delay would be.
  random.mockReturnValueOnce(0.01).mockReturnValueOnce(0).mockReturnValue(1)
  fails = true
  const one = acknowledger(0, pod)
  one.proxies = proxies
  one.say(word(1))
  await until('the write that fails', () => patched.length > 0)
  one.say(word(2))
  fails = false
  await until('the next one', () => sent.length > 0, windowMs(proxies) / 2)
  expect(generations()).toEqual([2])
})

it('sends the last one at the end of the delay', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(PAUSE_MS / windowMs(PROXIES))
  const one = acknowledger(0, otherPod)
  one.proxies = PROXIES
  one.say(word(1))
  one.say(word(2))
  await until('the last one', () => sent.length > 0)
  expect(generations()).toEqual([2])
})
