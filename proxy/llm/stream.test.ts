// The log entries of forwarded streams: the streams are not changed, so only the log reports failures.
import { describe, expect, it } from 'vitest'
import type { FormatName } from '#api/llm/formats.ts'
import type { Cancellable } from '../message/body.ts'
import { DerivedByKey } from '../message/derived-headers.ts'
import { HeaderList } from '../message/headers.ts'
import { IncomingBody } from '../message/incoming-body.ts'
import { exchangeOf } from '../policy/exchange.testing.ts'
import { FORMATS } from './formats/table.ts'
import type { ReplyContext } from './reply-context.ts'
import { passThroughStream } from './stream.ts'
import { DroppedFields } from './translate/dropped-fields.ts'
import { emptyFacts } from './usage.ts'
import { ToolNames } from './translate/tool-names.ts'

function contextFor(format: FormatName): ReplyContext {
  return {
    exchange: exchangeOf({ method: 'POST' }),
    facts: emptyFacts('p'),
    bodyBytesMax: 200,
    guards: undefined,
    answerHeaders: new DerivedByKey(),
    translationBytesMax: 200,
    call: {
      conversion: { client: FORMATS[format], sent: FORMATS[format], translation: undefined },
      model: 'm',
      isStreaming: true,
      params: undefined,
      framing: 'Sse',
      includeUsage: false,
      toolNames: new ToolNames(),
      pathAndQuery: '/',
      headers: new HeaderList(),
      body: Buffer.alloc(0),
      dropped: new DroppedFields(),
    },
  }
}

/** The log entry, whether the stream is forwarded as it arrives or has arrived as a whole. */
async function loggedFor(format: FormatName, text: string): Promise<string | undefined> {
  const [context, other] = [contextFor(format), contextFor(format)]
  const body: Cancellable<Buffer> = {
    async *[Symbol.asyncIterator]() {
      yield Buffer.from(text)
    },
    cancel() {},
  }
  expect(await textOf(passThroughStream(context, body))).toBe(text)
  expect(await textOf(passThroughStream(other, arrived(text)))).toBe(text)
  expect(other.exchange.errorDetail).toBe(context.exchange.errorDetail)
  expect({ ...other.facts, timeToFirstTokenMs: 0 }).toEqual({ ...context.facts, timeToFirstTokenMs: 0 })
  return context.exchange.errorDetail
}

async function textOf(stream: Cancellable<Buffer>): Promise<string> {
  let text = ''
  for await (const chunk of stream) text += String(chunk)
  return text
}

function arrived(text: string): IncomingBody {
  const body = new IncomingBody({ pauseBody() {}, resumeBody() {}, cancelBody() {} }, undefined)
  const bytes = Buffer.from(text)
  body.push(bytes, 0, bytes.length)
  body.end()
  return body
}

const TRUNCATED = 'the stream of the provider ended without its final event'

describe('a stream that has arrived', () => {
  it('is read at once, and sent as any other body', () => {
    const [context, whole] = [contextFor('Completions'), arrived('data: {"model":"m1"}\n\n')]
    expect(passThroughStream(context, whole)).toBe(whole)
    expect([whole.isUntouched, context.facts.responseModel]).toEqual([true, 'm1'])
  })

  it('is not one that continues', () => {
    const open = new IncomingBody({ pauseBody() {}, resumeBody() {}, cancelBody() {} }, undefined)
    expect(passThroughStream(contextFor('Completions'), open)).not.toBe(open)
  })
})

describe('the log', () => {
  it('reports an event that was too large to be read', async () => {
    const entry = await loggedFor('Completions', `data: ${'x'.repeat(300)}\n\ndata: [DONE]\n\n${'x'.repeat(300)}`)
    expect(entry).toBe('token usage was not read from the response: an event is larger than 200 bytes')
  })

  it.each<[FormatName, string, string | undefined]>([
    ['Completions', 'data: {}\n\ndata: [DONE]\n\n', undefined],
    ['Completions', 'data: {}\n\n', TRUNCATED],
    ['Messages', 'data: {"type":"message_stop"}\n\n', undefined],
    ['Messages', 'data: {"type":"message_delta"}\n\n', TRUNCATED],
    ['Responses', 'data: {"type":"response.completed","response":{}}\n\n', undefined],
    ['Responses', 'data: {"type":"response.created"}\n\n', TRUNCATED],
    ['Embeddings', '', undefined],
  ])('of %s %j says %s', async (format, text, expected) => {
    expect(await loggedFor(format, text)).toBe(expected)
  })
})
