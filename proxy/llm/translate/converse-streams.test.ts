// Answers of Amazon Bedrock for the SDKs of all clients: whole, streamed, cut at every byte, truncated, with an error.
import { describe, expect, it } from 'vitest'
import { FRAMES } from '../frames.ts'
import { CLIENTS, jsonResponse, streamResponse } from './clients.testing.ts'
import { converseAnswer, converseException, converseStream } from './converse.testing.ts'
import { expected } from './expected.testing.ts'
import { translationOf } from './translate.testing.ts'
import { ToolNames } from './tool-names.ts'
import { SCENARIOS, type VendorName } from './vendors.testing.ts'

const SOURCE = { id: 'req-1', model: 'm', names: new ToolNames() }
const OPTIONS = { createdSeconds: 7, includeUsage: true, source: SOURCE }
const NAMES: readonly VendorName[] = ['Completions', 'Messages', 'Responses', 'GenerateContent']

function streamed(from: VendorName, chunks: readonly Buffer[]): { readonly text: string; readonly isFailed: boolean } {
  const translator = translationOf(from, 'Converse').stream(OPTIONS)
  const reader = FRAMES.AwsEventStream.reader(100_000)
  const out = chunks.flatMap((chunk) => reader.push(chunk)).map((event) => translator.event(event))
  return { text: out.join('') + translator.end(), isFailed: translator.isFailed }
}

describe.each(NAMES.flatMap((from) => Object.entries(SCENARIOS).map(([title, one]) => [from, title, one] as const)))(
  '%s from Converse: %s',
  (from, _, scenario) => {
    const client = CLIENTS[from]
    const frames = converseStream(scenario)
    const bytes = Buffer.concat(frames)
    const seen = expected(scenario, client.stops[scenario.stop])

    it('is read whole and streamed by the SDK, and the stream keeps its grammar', async () => {
      const answer = translationOf(from, 'Converse').answer(converseAnswer(scenario), 7, SOURCE)
      expect(await client.read(jsonResponse(answer), false)).toEqual(seen)
      const { text, isFailed } = streamed(from, frames)
      expect(isFailed).toBe(false)
      client.grammar(text)
      expect(await client.read(streamResponse(text), true)).toEqual(seen)
    })

    it('is the same for every cut of the stream', { tags: ['full'] }, () => {
      const { text } = streamed(from, [bytes])
      for (let at = 1; at < bytes.length; at++) {
        const cut = streamed(from, [bytes.subarray(0, at), bytes.subarray(at)])
        // Responses have random ids of their items.
        expect(cut.text.length === text.length && !cut.isFailed, `cut at ${at}`).toBe(true)
      }
    })

    it(
      'is an error or the whole answer when the stream is truncated, never a part of it',
      { tags: ['full'] },
      async () => {
        for (let count = 0; count < frames.length; count++) {
          const { text, isFailed } = streamed(from, frames.slice(0, count))
          const reading = client.read(streamResponse(text), true)
          if (isFailed) await expect(reading).rejects.toThrow('ended its stream before the response was complete')
          else expect(await reading).toMatchObject({ text: seen.text, calls: seen.calls, stop: seen.stop })
          // Only the usage may be missing.
          expect(isFailed).toBe(count < frames.length - 1)
        }
      },
    )

    it('ends with the error that the provider reports within the stream', async () => {
      for (const count of [0, 1, Math.trunc(frames.length / 2), frames.length - 1]) {
        const error = converseException('throttlingException', 'too busy')
        const out = streamed(from, [...frames.slice(0, count), error, ...frames.slice(count)])
        expect(out.isFailed).toBe(true)
        await expect(client.read(streamResponse(out.text), true)).rejects.toThrow('too busy')
      }
    })
  },
)

describe.each(NAMES)('%s from Converse', (from) => {
  it.each([400, 403, 404, 429, 500, 503])('error %d before the answer', async (status) => {
    const error = translationOf(from, 'Converse').error({ message: 'too busy' }, status)
    const reading = CLIENTS[from].read(jsonResponse(error, status), false)
    await expect(reading).rejects.toMatchObject({ status, message: expect.stringContaining('too busy') as string })
  })
})
