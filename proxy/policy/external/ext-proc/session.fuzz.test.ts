// A processor that sends anything at any time: every request ends, no stream stays open, and neither backend nor
// client gets a partial response or a body that looks complete and is not: the bodies of the processor for each
// request are recorded, and only those, or the original, may arrive complete. The seed is printed.
// @module-tag full
import { afterAll, beforeAll, expect, it } from 'vitest'
import { send, startHarness, type Got, type Harness } from '#proxy/policy/external/ext-proc/proxy.testing.ts'
import { runs } from '#test/run/runs.ts'
import { until } from '../../../http/server.testing.ts'
import {
  empty,
  headers,
  headersOf,
  immediate,
  passing,
  piece,
  whole,
  type Reply,
  type Script,
  type Talk,
} from './processor.testing.ts'

const SEED = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000)
const DEADLINE_MS = 120_000
const BUDGET_MS = runs(6000, 500)
/** For a busy machine. */
const REQUESTS_MIN = 400
const REQUESTS_MAX = 2000
const AT_ONCE = 24
/** The last one is sent in several chunks, so that a processor can fail in between. */
const LONG = 'z'.repeat(200_000)
const BODIES = ['', 'short', 'x'.repeat(8192), 'y'.repeat(9000), LONG, LONG]
/** Streams have the most ways to fail. */
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

/** Both fields or neither; sometimes with one that makes the response invalid. */
function marks(random: (below: number) => number): Record<string, string> {
  const mark = String(random(1000))
  const last = [{}, {}, { 'bad name': 'v' }, { ':path': 'bad' }, { 'x-c': 'a\nb' }][random(5)]
  return { 'x-a': mark, 'x-b': mark, ...last }
}

/** Bodies of a processor end with `[end]`, so that a truncated one is detected. */
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

/** The bodies that one processor sent for one request. */
interface Said {
  /** Chunks up to the last one. */
  readonly pieces: { requestBody: Buffer[]; responseBody: Buffer[] }
  readonly isEnded: { requestBody: boolean; responseBody: boolean }
}

/** By the number of the request, which is in its path. */
class Minutes {
  readonly #byRequest = new Map<string, Said>()
  readonly #byCall = new WeakMap<Talk['call'], Said>()

  /** Like `talk`, with a record of the messages. */
  listen(request: Parameters<Script>[0], talk: Talk): Talk {
    const said = this.#of(request, talk)
    const reply = (one: Reply): void => {
      note(said, one)
      talk.reply(one)
    }
    return { call: talk.call, seen: talk.seen, reply }
  }

  /** Complete bodies of the processor for the request, besides `[end]`. */
  made(number: string, kind: 'requestBody' | 'responseBody'): string[] {
    const said = this.#byRequest.get(number)
    return said?.isEnded[kind] === true ? [Buffer.concat(said.pieces[kind]).toString('utf8')] : []
  }

  #of(request: Parameters<Script>[0], { call }: Talk): Said {
    let said = this.#byCall.get(call)
    if (said === undefined) {
      said = {
        pieces: { requestBody: [], responseBody: [] },
        isEnded: { requestBody: false, responseBody: false },
      }
      this.#byCall.set(call, said)
      this.#byRequest.set(numberOf(headersOf(request)[':path']), said)
    }
    return said
  }
}

function numberOf(path: string | undefined): string {
  return /\?n=(\d+)/.exec(path ?? '')?.[1] ?? ''
}

function note(said: Said, { response }: Reply): void {
  if (response?.case !== 'requestBody' && response?.case !== 'responseBody') return
  const mutation = response.value.response?.bodyMutation?.mutation
  if (mutation?.case !== 'streamedResponse' || said.isEnded[response.case]) return
  said.pieces[response.case].push(Buffer.from(mutation.value.body ?? []))
  said.isEnded[response.case] = mutation.value.endOfStream === true
}

function wild(random: (below: number) => number, minutes: Minutes): Script {
  const tame = new WeakMap<Talk['call'], boolean>()
  return (request, talk) => {
    const heard = minutes.listen(request, talk)
    if (!tame.has(talk.call)) tame.set(talk.call, random(2) === 0)
    // Every other processor works for a while.
    if (tame.get(talk.call) === true && random(8) > 0) passing(request, heard)
    else behave(request, heard, random)
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

/** Bodies that may arrive complete: the original, that of the processor, or with only its beginning replaced. */
function wholes(sent: string, made: readonly string[]): Set<string> {
  const beginningReplaced = sent.length > 8192 ? [`[end]${sent.slice(8192)}`] : []
  return new Set([sent, '[end]', ...beginningReplaced, ...made])
}

/** Bodies are long, and these are printed if the test fails. */
const brief = (number: string, body: string): string => `${number}: ${body.length} ${body.slice(0, 40)}`

it(`holds (FUZZ_SEED=${SEED})`, { timeout: DEADLINE_MS }, async () => {
  const deadline = performance.now() + BUDGET_MS
  const random = numbers(SEED)
  const minutes = new Minutes()
  const sent: string[] = []
  const answers: { readonly number: string; readonly got: Got }[] = []
  const statuses = new Set<number>()
  h.processor.reset(wild(random, minutes))
  const one = async (): Promise<void> => {
    const number = String(sent.length)
    const body = BODIES[random(BODIES.length)] ?? ''
    sent.push(body)
    const route = ROUTES[random(ROUTES.length)] ?? 'all'
    // The connection of a client that still sends may close.
    const got = await send(`${h.proxy.url}/${route}?n=${number}`, { body }).catch((): Got | undefined => undefined)
    if (got === undefined) return
    statuses.add(got.isComplete ? got.status : 0)
    expect(got.headers['x-a']).toBe(got.headers['x-b'])
    // Others are rejections, of the proxy or of the processor.
    if (got.isComplete && got.status === 200) answers.push({ number, got })
  }
  const isMore = (): boolean =>
    sent.length < REQUESTS_MIN || (performance.now() < deadline && sent.length < REQUESTS_MAX)
  const sender = async (): Promise<void> => {
    while (isMore()) await one()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, sender))
  await until(() => h.processor.open === 0, 'the end of all streams')

  const cut: string[] = []
  const received = new Map<string, string>()
  for (const { headers: fields, path, body, isComplete } of h.received) {
    const number = numberOf(path)
    expect(fields['x-a']).toBe(fields['x-b'])
    if (!isComplete) continue
    received.set(number, body)
    const allowed = wholes(sent[Number(number)] ?? '', minutes.made(number, 'requestBody'))
    if (!allowed.has(body)) cut.push(brief(`request ${number}`, body))
  }
  for (const { number, got } of answers) {
    const echo = received.get(number)
    // Without a request at the backend it is that of the processor.
    const allowed = wholes(echo === undefined ? '[end]' : `echo:${echo}`, minutes.made(number, 'responseBody'))
    if (!allowed.has(got.body)) cut.push(brief(`response ${number}`, got.body))
  }
  expect(cut).toEqual([])
  h.processor.reset(passing)
  expect(await send(`${h.proxy.url}/all`, { body: 'still there' })).toMatchObject({
    status: 200,
    body: 'echo:still there',
  })
  expect([...statuses]).toEqual(expect.arrayContaining([200, 500]))
})
