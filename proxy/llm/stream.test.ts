// The log entries of forwarded streams: the streams are not changed, so only the log reports failures.
import { describe, expect, it } from 'vitest'
import type { FormatName } from '#api/llm/formats.ts'
import { DerivedByKey } from '../message/derived-headers.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { Cancellable } from '../message/body.ts'
import { HeaderList } from '../message/headers.ts'
import { exchangeOf } from '../policy/exchange.testing.ts'
import { FORMATS } from './formats/table.ts'
import { passThroughStream } from './stream.ts'
import { DroppedFields } from './translate/dropped-fields.ts'
import { emptyFacts } from './usage.ts'
import { ToolNames } from './translate/tool-names.ts'

async function passed(format: FormatName, text: string): Promise<Exchange> {
  const exchange = exchangeOf({ method: 'POST' })
  const context = {
    exchange,
    facts: emptyFacts('p'),
    bodyBytesMax: 200,
    guards: undefined,
    answerHeaders: new DerivedByKey<string | undefined>(),
    translationBytesMax: 200,
    call: {
      conversion: { client: FORMATS[format], sent: FORMATS[format], translation: undefined },
      model: 'm',
      isStreaming: true,
      params: undefined,
      framing: 'Sse' as const,
      includeUsage: false,
      toolNames: new ToolNames(),
      pathAndQuery: '/',
      headers: new HeaderList(),
      body: Buffer.alloc(0),
      dropped: new DroppedFields(),
    },
  }
  const body: Cancellable<Buffer> = {
    async *[Symbol.asyncIterator]() {
      yield Buffer.from(text)
    },
    cancel() {},
  }
  let received = ''
  for await (const chunk of passThroughStream(context, body)) received += String(chunk)
  expect(received).toBe(text)
  return exchange
}

const TRUNCATED = 'the stream of the provider ended without its final event'

describe('the log', () => {
  it('reports an event that was too large to be read', async () => {
    const { errorDetail } = await passed(
      'Completions',
      `data: ${'x'.repeat(300)}\n\ndata: [DONE]\n\n${'x'.repeat(300)}`,
    )
    expect(errorDetail).toBe('token usage was not read from the response: an event is larger than 200 bytes')
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
    expect((await passed(format, text)).errorDetail).toBe(expected)
  })
})
