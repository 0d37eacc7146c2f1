// Answers of every pair of formats, read by the SDK of the client: whole and streamed, cut at every byte, truncated.
import { describe, expect, it } from 'vitest'
import { SseParser } from '../../http/sse.ts'
import { parseExactObject, type JsonObject } from '../json.ts'
import { CLIENTS, jsonResponse, streamResponse } from './clients.testing.ts'
import type { Translation } from './translation.ts'
import { expected } from './expected.testing.ts'
import { translationOf } from './translate.testing.ts'
import { SCENARIOS, VENDORS } from './vendors.testing.ts'

const OPTIONS = { createdSeconds: 5, includeUsage: true }

const PAIRS = [
  ['Completions', 'Messages'],
  ['Messages', 'Completions'],
  ['Messages', 'Responses'],
  ['Responses', 'Completions'],
  ['Responses', 'Messages'],
  ['Completions', 'Responses'],
  ['Completions', 'GenerateContent'],
  ['Messages', 'GenerateContent'],
  ['Responses', 'GenerateContent'],
  ['GenerateContent', 'Completions'],
  ['GenerateContent', 'Messages'],
  ['GenerateContent', 'Responses'],
] as const

const CASES = PAIRS.flatMap(([from, to]) =>
  Object.entries(SCENARIOS).map(([name, scenario]) => [from, to, name, scenario] as const),
)

interface Streamed {
  readonly text: string
  readonly isFailed: boolean
}

/** Bytes of a provider, in pieces that end at the given places. */
function streamed(translation: Translation, bytes: Buffer, cuts: readonly number[] = []): Streamed {
  const parser = new SseParser(100_000)
  const translator = translation.stream(OPTIONS)
  let text = ''
  let from = 0
  for (const to of [...cuts, bytes.length]) {
    for (const event of parser.push(bytes.subarray(from, to))) text += translator.event(event)
    from = to
  }
  text += translator.end()
  return { text, isFailed: translator.isFailed }
}

/** As it came over the network. */
const received = (json: JsonObject): JsonObject => parseExactObject(JSON.stringify(json)) ?? {}

const whole = (translation: Translation, answer: JsonObject): JsonObject => {
  const translated = translation.answer(received(answer), OPTIONS.createdSeconds)
  if (translated === undefined) throw new Error('not an answer')
  return translated
}

describe.each(CASES)('%s from %s: %s', (from, to, _, scenario) => {
  const translation = translationOf(from, to)
  const [client, vendor] = [CLIENTS[from], VENDORS[to]]
  const frames = vendor.stream(scenario)
  const bytes = Buffer.from(frames.join(''))
  const seen = expected(scenario, client.stops[scenario.stop])

  it('is read whole by the SDK', async () => {
    const answer = whole(translation, vendor.whole(scenario))
    expect(await client.read(jsonResponse(answer), false)).toEqual(seen)
    for (const { input } of scenario.calls ?? []) {
      const long = /\d{17,}/.exec(input)?.[0]
      if (long !== undefined) expect(JSON.stringify(answer)).toContain(long)
    }
  })

  it('is read streamed by the SDK, and the stream keeps its grammar', async () => {
    const { text, isFailed } = streamed(translation, bytes)
    expect(isFailed).toBe(false)
    client.grammar(text)
    expect(await client.read(streamResponse(text), true)).toEqual(seen)
  })

  it('is the same for every cut of the stream', { tags: ['full'] }, () => {
    const each = Array.from({ length: bytes.length - 1 }, (__, at) => at + 1)
    expect(streamed(translation, bytes, each).text).toBe(streamed(translation, bytes).text)
    // A translator sees events only, and those of two pieces are the same.
    const eventsOf = (at: number): string => {
      const parser = new SseParser(100_000)
      return JSON.stringify([...parser.push(bytes.subarray(0, at)), ...parser.push(bytes.subarray(at))])
    }
    const events = eventsOf(0)
    for (const at of each) expect(eventsOf(at) === events, `cut at ${at}`).toBe(true)
  })

  it('is streamed as the same answer if the provider sends none', async () => {
    const text = translation.answerAsStream(received(vendor.whole(scenario)), OPTIONS)
    client.grammar(text)
    expect(await client.read(streamResponse(text), true)).toEqual(seen)
  })

  it(
    'is an error or the whole answer when the stream is truncated, never a part of it',
    { tags: ['full'] },
    async () => {
      for (let count = 0; count < frames.length; count++) {
        const { text, isFailed } = streamed(translation, Buffer.from(frames.slice(0, count).join('')))
        const reading = client.read(streamResponse(text), true)
        if (isFailed) await expect(reading).rejects.toThrow('ended its stream before the response was complete')
        else
          expect({ ...(await reading), input: 0, cached: 0, output: 0 }).toEqual({
            ...seen,
            input: 0,
            cached: 0,
            output: 0,
          })
      }
    },
  )

  it('ends with the error that the provider reports within the stream', async () => {
    for (const count of [0, 1, Math.trunc(frames.length / 2), frames.length - 2]) {
      const text = [...frames.slice(0, count), vendor.errorFrame('too busy'), ...frames.slice(count)].join('')
      const out = streamed(translation, Buffer.from(text))
      expect(out.isFailed).toBe(true)
      await expect(client.read(streamResponse(out.text), true)).rejects.toThrow('too busy')
    }
  })
})

describe.each(PAIRS)('%s from %s', (from, to) => {
  const translation = translationOf(from, to)

  it.each([400, 401, 404, 429, 500, 529])('error %d before the answer', async (status) => {
    const error = translation.error(VENDORS[to].error('too busy'), status)
    const reading = CLIENTS[from].read(jsonResponse(error, status), false)
    await expect(reading).rejects.toMatchObject({ status, message: expect.stringContaining('too busy') as string })
  })

  it.each<[string, JsonObject]>([
    ['another object', { hello: 'world' }],
    ['an error', VENDORS[to].error('no')],
    ['an answer of the other format', VENDORS[from].whole({ stop: 'stop', usage: { input: 1, cached: 0, output: 1 } })],
  ])('%s is not an answer', (_, body) => expect(translation.answer(body, 0)).toBeUndefined())
})
