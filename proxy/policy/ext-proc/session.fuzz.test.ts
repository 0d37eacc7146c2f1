// A processor that answers anything at any time: every request ends, no stream stays open, and neither backend nor
// client ever gets half of an answer or a body that looks whole and is not. The seed is printed.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { send, startHarness, type Got, type Harness } from '#test/ext-proc.ts'
import { until } from '../../http/test-support.ts'
import {
  empty,
  headers,
  immediate,
  passing,
  piece,
  whole,
  type Reply,
  type Script,
  type Talk,
} from './processor.testing.ts'

const SEED = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000)
const BUDGET_MS = 6000
const AT_ONCE = 24
const BODIES = ['', 'short', 'x'.repeat(8192), 'y'.repeat(9000), 'z'.repeat(200_000)]
/** Streams have the most ways to go wrong. */
const ROUTES = [
  'all',
  'all',
  'all',
  'all',
  'none',
  'buffered',
  'partial',
  'override',
  'open-all',
  'open-none',
  'open-buffered',
] as const

let h: Harness

beforeAll(async () => {
  const none = { requestBodyMode: 'None', responseBodyMode: 'None' } as const
  const buffered = { requestBodyMode: 'Buffered', responseBodyMode: 'Buffered' } as const
  const partial = { requestBodyMode: 'BufferedPartial', responseBodyMode: 'BufferedPartial' } as const
  h = await startHarness({
    timeoutMs: 100,
    routes: {
      all: {},
      none: { extProc: { processingOptions: none } },
      buffered: { extProc: { processingOptions: buffered } },
      partial: { extProc: { processingOptions: partial } },
      override: { extProc: { processingOptions: { ...buffered, allowModeOverride: true } } },
      'open-all': { extProc: { failureMode: 'FailOpen' } },
      'open-none': { extProc: { failureMode: 'FailOpen', processingOptions: none } },
      'open-buffered': { extProc: { failureMode: 'FailOpen', processingOptions: buffered } },
    },
  })
})
afterAll(() => h.stop())

/** Numbers of a seed: mulberry32. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

/** Both fields or none of them; sometimes with one that makes the answer unusable. */
function marks(random: (below: number) => number): Record<string, string> {
  const mark = String(random(1000))
  const last = [{}, {}, { 'bad name': 'v' }, { ':path': 'bad' }, { 'x-c': 'a\nb' }][random(5)]
  return { 'x-a': mark, 'x-b': mark, ...last }
}

/** Bodies that a processor makes end with `[end]`, so that a cut one is known. */
function anyReply(random: (below: number) => number): Reply {
  const isRequest = random(2) === 0
  const bodyKind = isRequest ? 'requestBody' : 'responseBody'
  const headersKind = isRequest ? 'requestHeaders' : 'responseHeaders'
  const isEnd = random(2) === 0
  const replies: readonly (() => Reply)[] = [
    () => headers(headersKind, marks(random)),
    () =>
      headers(headersKind, marks(random), {
        reply: { modeOverride: { requestBodyMode: random(6), responseBodyMode: random(6) } },
      }),
    () =>
      headers(
        headersKind,
        {},
        { common: { status: 1, bodyMutation: { mutation: { case: 'body', value: Buffer.from('[end]') } } } },
      ),
    () => piece(bodyKind, Buffer.from(isEnd ? '[end]' : '[piece]'), isEnd),
    () => whole(bodyKind, '[end]'),
    () => ({ response: { case: isRequest ? 'requestTrailers' : 'responseTrailers', value: {} } }),
    () => immediate({ status: { code: [0, 200, 403, 99, 700][random(5)] ?? 0 }, body: Buffer.from('[end]') }),
    () => ({}),
    () => ({ overrideMessageTimeout: { seconds: BigInt(random(3)), nanos: 0 } }),
  ]
  return replies[random(replies.length)]?.() ?? {}
}

function wild(random: (below: number) => number): Script {
  const tame = new WeakMap<Talk['call'], boolean>()
  return (request, talk) => {
    if (!tame.has(talk.call)) tame.set(talk.call, random(2) === 0)
    // Every other processor does well for a while.
    if (tame.get(talk.call) === true && random(8) > 0) passing(request, talk)
    else behave(request, talk, random)
  }
}

function behave(request: Parameters<Script>[0], talk: Talk, random: (below: number) => number): void {
  const { case: kind } = request.request
  const roll = random(20)
  if (roll < 5) answerRightly(request, talk, random)
  else if (roll < 14) talk.reply(anyReply(random))
  else if (roll === 14) talk.call.end()
  else if (roll === 15) talk.call.emit('error', Object.assign(new Error('dead'), { code: 13 }))
  else if (roll === 16) for (let i = random(5); i >= 0; i--) talk.reply(anyReply(random))
  else if (roll === 17) setTimeout(() => answerRightly(request, talk, random), random(150))
  else if (kind === 'requestBody' || kind === 'responseBody') talk.reply(whole(kind, '[end]'))
}

function answerRightly(request: Parameters<Script>[0], talk: Talk, random: (below: number) => number): void {
  const { case: kind } = request.request
  if (kind === 'requestHeaders' || kind === 'responseHeaders') talk.reply(headers(kind, marks(random)))
  else if (random(2) === 0) empty(request, talk)
  else passing(request, talk)
}

function expectWhole(body: string, sent: string, prefix = ''): void {
  // As it was, as a processor ended it, or the beginning replaced (8192 bytes are shown).
  const isAsSent = body === prefix + sent
  const rest = (prefix + sent).slice(8192)
  const isPartly = rest !== '' && body === `[end]${rest}`
  if (!isAsSent && !isPartly && body !== '') expect(body).toMatch(/\[end\]$/)
}

it(`holds (FUZZ_SEED=${SEED})`, { timeout: BUDGET_MS * 8 }, async () => {
  const deadline = performance.now() + BUDGET_MS
  const random = numbers(SEED)
  const counts = new Map<number, number>()
  const unprocessed: string[] = []
  h.processor.reset(wild(random))
  const one = async (): Promise<void> => {
    const sent = BODIES[random(BODIES.length)] ?? ''
    const route = ROUTES[random(ROUTES.length)] ?? 'all'
    // A client that still sends may see its connection go.
    const got = await send(`${h.proxy.url}/${route}`, { body: sent }).catch((): Got | undefined => undefined)
    const status = got?.isComplete === true ? got.status : 0
    counts.set(status, (counts.get(status) ?? 0) + 1)
    if (got === undefined) return
    expect(got.headers['x-a']).toBe(got.headers['x-b'])
    // Unprocessed, made or begun by the processor, or a refusal of the proxy.
    if (status === 200 && got.body !== '' && !/^\[end\]|\[end\]$/.test(got.body)) unprocessed.push(got.body)
  }
  while (performance.now() < deadline) await Promise.all(Array.from({ length: AT_ONCE }, one))
  for (const { headers: fields, body, isComplete } of h.received) {
    expect(fields['x-a']).toBe(fields['x-b'])
    if (isComplete) expectWhole(body, BODIES.find((known) => known === body) ?? longestOf(body))
  }
  const echoes = new Set(h.received.map(({ body }) => `echo:${body}`))
  expect(unprocessed.filter((body) => !echoes.has(body)).map((body) => body.slice(0, 60))).toEqual([])
  await until(() => h.processor.open === 0, 'the end of all streams')
  h.processor.reset(passing)
  expect(await send(`${h.proxy.url}/all`, { body: 'still there' })).toMatchObject({
    status: 200,
    body: 'echo:still there',
  })
  expect([...counts.keys()]).toEqual(expect.arrayContaining([200, 500]))
})

/** The body whose beginning was replaced. */
function longestOf(body: string): string {
  return BODIES.find((known) => known.length > 8192 && body.endsWith(known.slice(8192))) ?? ''
}
