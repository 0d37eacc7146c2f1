// Events that are recognised without parsing: equal to what a parser reads, or not recognised.
import { describe, expect, it } from 'vitest'
import { parseObject } from '../../json.ts'
import { EventShape } from './event-shape.ts'
import { type Delta, STREAM_TEXTS, type StreamTexts } from './stream-texts.ts'

function completions(): StreamTexts {
  const texts = STREAM_TEXTS.Completions
  if (texts === undefined) throw new Error('chat completions have streams')
  return texts
}

function deltasOf(data: string): readonly Delta[] {
  return completions().deltas(parseObject(data) ?? {})
}

function shapeOf(data: string): EventShape | undefined {
  const [delta] = deltasOf(data)
  if (delta === undefined) throw new Error('the event has no text')
  return EventShape.of({ event: '', data }, delta, completions())
}

const event = (content: string, more = ''): string =>
  `{"id":"c", "choices":[{"index":0,"delta":{"content":${content}}}]${more}}`

describe('the shape of an event', () => {
  it.each(['"a"', '" b "', String.raw`"quote \" and \\"`, String.raw`"\u00e9"`, '"\u{1F600}"', '"{[,:]}"', '"a\\n"'])(
    'has the text that a parser reads: %s',
    (literal) => {
      const data = event(literal)
      expect(shapeOf(event('"first"'))?.textIn({ event: '', data })).toBe(deltasOf(data)[0]?.text)
    },
  )

  it.each([
    ['no text', event('""')],
    ['another type', event('1')],
    ['another member', event('"a","x":"b"')],
    ['a second member of the same name', event('"a","content":"b"')],
    ['an invalid escape', event(String.raw`"\x"`)],
    ['a control character', event('"\t"')],
    ['an open string', event(String.raw`"a\"`)],
    ['something behind', event('"a"', ',"n":1')],
    ['something in front', ` ${event('"a"')}`],
  ])('is not that of an event with %s', (_, data) => {
    expect(shapeOf(event('"first"'))?.textIn({ event: '', data })).toBeUndefined()
  })

  it('is not that of an event with another name', () => {
    expect(shapeOf(event('"first"'))?.textIn({ event: 'ping', data: event('"a"') })).toBeUndefined()
  })

  it('is not known if the same characters stand in front of the text', () => {
    expect(shapeOf('{"id":"c","choices":[{"index":0,"delta":{"content":"c"}}]}')).toBeUndefined()
    // Between two strings.
    expect(shapeOf('{"a":"x","choices":[{"index":0,"delta":{"content":","}}]}')).toBeUndefined()
  })

  it('is not known if the text is written with another escape', () => {
    expect(shapeOf(event(String.raw`"\u0061"`))).toBeUndefined()
  })
})
