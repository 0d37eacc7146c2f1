import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Acknowledgement } from '#api/delivery/acknowledgement.ts'
import { until } from '#test/wait.ts'
import { createLogger } from '../../log/logger.ts'
import { parseLevelFilter } from '../../log/level-filter.ts'
import { Acknowledger } from './acknowledger.ts'
import type { KubeClient } from './kube-client.ts'

const FOR_EVER_MS = 3_600_000

let sent: Acknowledgement[]
let fails: boolean
let stopping: AbortController

beforeEach(() => {
  sent = []
  fails = false
  stopping = new AbortController()
})

afterEach(() => stopping.abort())

function acknowledger(gatherMs: number): Acknowledger {
  const filter = parseLevelFilter('error')
  if ('problem' in filter) throw new Error(filter.problem)
  const logger = createLogger({ format: 'text', filter, write: () => {} }).module('test')
  const none = (): Promise<never> => Promise.reject(new Error('not asked for'))
  const client: KubeClient = {
    get: none,
    watch: none,
    close: () => {},
    patch: (_path, body) => {
      if (fails) return Promise.resolve({ status: 500, body: undefined })
      // The form of acknowledgementPatch.
      const text = (body as { data: Record<string, string> }).data['web-1'] ?? ''
      sent.push(JSON.parse(text) as Acknowledgement)
      return Promise.resolve({ status: 200, body: undefined })
    },
  }
  return new Acknowledger({ client, path: '/', pod: 'web-1', logger, signal: stopping.signal, gatherMs })
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
