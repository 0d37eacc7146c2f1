// Events of answers: their grammar, their fold, their order.
import { describe, expect, it } from 'vitest'
import { AnswerWriter, streamError } from './answer-writer.ts'
import type { AnswerEvent, OpenPart } from './answer.ts'
import { carriedSignature, carriedText } from './carrier.ts'
import { AnswerFold, AnswerTooLarge, fold } from './fold.ts'
import { AnswerGrammar, grammatical } from './grammar.testing.ts'
import type { OpaqueValue } from './request.ts'
import { Sequential } from './sequential.ts'

const written = (write: (writer: AnswerWriter) => void): readonly AnswerEvent[] => {
  const writer = new AnswerWriter()
  write(writer)
  return writer.take()
}

describe('AnswerWriter', () => {
  it('completes what the provider left out', () => {
    const events = written((writer) => {
      writer.text(3, 'never opened')
      const text = writer.open({ kind: 'text' })
      writer.open({ kind: 'toolCall', id: 'c', name: 'f' })
      writer.text(text, 'hi')
      writer.arguments(text, 'of no call')
      writer.usage({ inputTokens: 1, outputTokens: undefined })
      writer.usage({ outputTokens: undefined })
      writer.finish('toolCalls')
      writer.text(text, 'late')
      writer.finish('stop')
      writer.fail(streamError('late'))
    })
    expect(grammatical(events)).toEqual([
      { kind: 'start', id: '', model: '' },
      { kind: 'open', index: 0, part: { kind: 'text' } },
      { kind: 'open', index: 1, part: { kind: 'toolCall', id: 'c', name: 'f' } },
      { kind: 'text', index: 0, text: 'hi' },
      { kind: 'usage', usage: { inputTokens: 1 } },
      { kind: 'close', index: 0 },
      { kind: 'arguments', index: 1, text: '{}' },
      { kind: 'close', index: 1 },
      { kind: 'finish', reason: 'toolCalls', stopSequence: undefined },
    ])
  })

  it('ends with an error in any state', () => {
    expect(written((writer) => writer.fail(streamError('no')))).toEqual([{ kind: 'error', error: streamError('no') }])
  })
})

describe('fold', () => {
  it('joins texts, keeps signatures and citations, and never erases a count', () => {
    const signature = { format: 'Messages', value: 's' } as const
    const citation = { url: 'u', title: 't', quote: undefined, start: 0, end: 1, original: undefined }
    const events = written((writer) => {
      writer.start('id', 'm')
      const reasoning = writer.open({ kind: 'reasoning', isSummary: true })
      writer.text(reasoning, 'h')
      writer.text(reasoning, 'm')
      writer.signature(reasoning, signature)
      writer.citation(writer.open({ kind: 'text' }), citation)
      writer.usage({ inputTokens: 7, outputTokens: 1 })
      writer.usage({ outputTokens: 5 })
      writer.finish('stopSequence', 'END')
    })
    expect({ ...fold(events) }).toMatchObject({
      id: 'id',
      model: 'm',
      parts: [
        { kind: 'reasoning', text: 'hm', isSummary: true, signature },
        { kind: 'text', text: '', citations: [citation] },
      ],
      usage: { inputTokens: 7, outputTokens: 5 },
      reason: 'stopSequence',
      stopSequence: 'END',
      error: undefined,
    })
  })
})

describe('limits of an answer', () => {
  it('are 100,000 parts', () => {
    const writer = new AnswerWriter()
    for (let count = 0; count < 100_000; count++) writer.close(writer.open({ kind: 'text' }))
    expect(writer.isDone).toBe(false)
    writer.open({ kind: 'text' })
    expect(grammatical(writer.take()).at(-1)).toMatchObject({
      kind: 'error',
      error: { message: 'the provider sent more than 100000 parts of an answer' },
    })
  })

  it.each<[string, OpenPart, (value: OpaqueValue) => AnswerEvent]>([
    [
      'blocks of the vendor',
      { kind: 'text' },
      (value) => ({ kind: 'open', index: 1, part: { kind: 'opaque', ...value } }),
    ],
    [
      'citations',
      { kind: 'text' },
      (value) => {
        const places = { url: undefined, title: undefined, quote: undefined, start: undefined, end: undefined }
        return { kind: 'citation', index: 0, citation: { ...places, original: value } }
      },
    ],
  ])('count %s', (_, part, eventOf) => {
    const answer = new AnswerFold()
    answer.push({ kind: 'open', index: 0, part })
    const event = eventOf({ format: 'Messages', value: { data: 'x'.repeat(2 ** 22) } })
    for (let count = 0; count < 3; count++) answer.push(event)
    expect(() => answer.push(event)).toThrow('the answer is larger than 16777216 characters')
  })
})

describe('Sequential', () => {
  it('lets parts of parallel calls pass one after the other', () => {
    const events = written((writer) => {
      const [a, b, c] = ['a', 'b', 'c'].map((id) => writer.open({ kind: 'toolCall', id, name: 'f' }))
      for (const index of [b, a, c, b, a]) writer.arguments(index ?? 0, '1')
      writer.close(b ?? 0)
      writer.finish('toolCalls')
    })
    const sequential = new Sequential()
    const out = events.flatMap((event) => sequential.push(event))
    const places = grammatical(out).flatMap((event) => ('index' in event ? [event.index] : []))
    expect(places).toEqual([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2])
    expect({ ...fold(out) }).toEqual({ ...fold(events) })
  })

  it('holds a bounded number of events, however short they are', () => {
    const sequential = new Sequential()
    const one: AnswerEvent = { kind: 'text', index: 1, text: 'x' }
    expect(() => {
      for (let count = 0; count < 300_000; count++) sequential.push(one)
    }).toThrow(AnswerTooLarge)
  })

  it('does not delay the part that comes first', () => {
    const sequential = new Sequential()
    const text: AnswerEvent = { kind: 'text', index: 0, text: 'x' }
    sequential.push({ kind: 'open', index: 0, part: { kind: 'text' } })
    sequential.push({ kind: 'open', index: 1, part: { kind: 'text' } })
    expect(sequential.push(text)).toEqual([text])
  })
})

describe('the grammar', () => {
  const start: AnswerEvent = { kind: 'start', id: '', model: '' }
  const open: AnswerEvent = { kind: 'open', index: 0, part: { kind: 'toolCall', id: '', name: '' } }
  const finish: AnswerEvent = { kind: 'finish', reason: 'stop', stopSequence: undefined }
  it.each<[string, readonly AnswerEvent[]]>([
    ['event before start', [open]],
    ['second start', [start, start]],
    ['event after the end', [start, finish, finish]],
    ['finish with open parts', [start, open, finish]],
    ['part out of order', [start, { ...open, index: 1 }]],
    ['not open', [start, { kind: 'close', index: 0 }]],
    ['does not have', [start, open, { kind: 'text', index: 0, text: 'x' }]],
    ['empty text', [start, open, { kind: 'arguments', index: 0, text: '' }]],
    ['tool call without arguments', [start, open, { kind: 'close', index: 0 }]],
    ['count is not a number', [start, { kind: 'usage', usage: { inputTokens: Number.NaN } }]],
    ['neither finish nor error', [start]],
  ])('has no %s', (fault, events) => {
    const grammar = new AnswerGrammar()
    expect(() => {
      for (const event of events) grammar.push(event)
      grammar.end()
    }).toThrow(fault)
  })
})

describe('a signature', () => {
  it.each([
    ['sig', { format: 'Messages', value: 'sig' }, 'Messages'],
    ['gw:Responses:rs_1:gAAA', { format: 'Responses', value: 'rs_1:gAAA' }, 'Messages'],
    ['gw:Other:x', { format: 'Messages', value: 'gw:Other:x' }, 'Messages'],
  ] as const)('%s comes back as it was', (text, signature, own) => {
    expect(carriedSignature(text, own)).toEqual(signature)
    expect(carriedText(signature, own)).toBe(text)
  })
})
