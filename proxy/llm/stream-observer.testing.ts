// An observer of a forwarded stream, for tests; not used by the proxy.
import type { FormatName } from '#api/llm/formats.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { LlmFacts } from '../exchange/facts.ts'
import { DerivedByKey } from '../message/derived-headers.ts'
import { HeaderList } from '../message/headers.ts'
import { exchangeOf } from '../policy/exchange.testing.ts'
import { FORMATS } from './formats/table.ts'
import { StreamObserver } from './stream-observer.ts'
import { DroppedFields } from './translate/dropped-fields.ts'
import { ToolNames } from './translate/tool-names.ts'
import { emptyFacts } from './usage.ts'

export interface Observed {
  readonly facts: LlmFacts
  readonly exchange: Exchange
  /** Events that the format has read. */
  readonly readEvents: number
}

/** What it reads in these chunks, each in the same memory as the one before, or in the text of a whole stream. */
export function observed(name: FormatName, chunks: readonly Buffer[] | { readonly whole: Buffer }): Observed {
  const exchange = exchangeOf({ method: 'POST' })
  const facts = emptyFacts('p')
  let readEvents = 0
  const sent: (typeof FORMATS)[FormatName] = {
    ...FORMATS[name],
    observe: (to, event) => {
      readEvents++
      FORMATS[name].observe(to, event)
    },
  }
  const observer = new StreamObserver({
    exchange,
    facts,
    texts: undefined,
    guards: undefined,
    answerHeaders: new DerivedByKey<string | undefined>(),
    bodyBytesMax: 10_000,
    translationBytesMax: 10_000,
    call: {
      conversion: { client: sent, sent, translation: undefined },
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
  })
  if ('whole' in chunks) {
    observer.readWhole(chunks.whole.toString('latin1'))
    return { facts, exchange, readEvents }
  }
  const memory = Buffer.alloc(Math.max(0, ...chunks.map(({ length }) => length)))
  for (const chunk of chunks) {
    chunk.copy(memory)
    observer.push(memory.subarray(0, chunk.length))
  }
  observer.end()
  return { facts, exchange, readEvents }
}
