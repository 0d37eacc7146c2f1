import { describe, expect, it } from 'vitest'
import { arrivedBody, TEXT_BYTES_MAX, textBody } from './arrived-body.ts'
import { IncomingBody } from './incoming-body.ts'

/** In memory that is used again later. */
function borrowed(bytes: Buffer): IncomingBody {
  const body = new IncomingBody({ pauseBody() {}, resumeBody() {}, cancelBody() {} }, undefined)
  const memory = Buffer.from(bytes)
  body.push(memory, 0, memory.length)
  body.end()
  queueMicrotask(() => memory.fill(0))
  return body
}

function bodyOf(bytes: Buffer, isWhole = true): IncomingBody {
  const body = new IncomingBody({ pauseBody() {}, resumeBody() {}, cancelBody() {} }, undefined)
  body.push(bytes, 0, bytes.length)
  body.settle()
  if (isWhole) body.end()
  return body
}

describe('arrivedBody', () => {
  it('returns text of ASCII as a string, and other text as the bytes that arrived', () => {
    expect(arrivedBody(bodyOf(Buffer.from('{"a":1}\n')), 100)).toBe('{"a":1}\n')
    for (const bytes of [Buffer.from('"ä€😀"'), Buffer.of(0x7f, 0x80), Buffer.of(0xff, 0xc3)]) {
      expect(arrivedBody(bodyOf(bytes), 100)).toEqual(bytes)
    }
    expect(arrivedBody(bodyOf(Buffer.alloc(0)), 100)).toBe('')
  })

  it('keeps what it returns when the memory of the bytes is used again', async () => {
    for (const text of ['abc', 'äbc']) {
      const arrived = arrivedBody(borrowed(Buffer.from(text)), 100)
      await Promise.resolve()
      expect(String(arrived)).toBe(text)
    }
  })

  it('leaves a body that has not arrived, or is too large, to other readers', async () => {
    const open = bodyOf(Buffer.from('part'), false)
    expect(arrivedBody(open, 100)).toBeUndefined()
    const large = bodyOf(Buffer.from('12345'))
    expect(arrivedBody(large, 4)).toBeUndefined()
    expect(arrivedBody(bodyOf(Buffer.from('1234')), 4)).toBe('1234')
    open.end()
    expect([String(await open.collect(100)), String(await large.collect(100))]).toEqual(['part', '12345'])
  })
})

describe('the text of a body that has arrived', () => {
  it('is the same before and after the body is taken, in any way', async () => {
    const text = 'd\u00e4ta\xff\n'
    const read = (): IncomingBody => {
      const body = borrowed(Buffer.from(text, 'latin1'))
      expect([body.wholeText(100), body.wholeText(100), body.isUntouched]).toEqual([text, text, true])
      return body
    }
    const whole = read()
    expect([whole.takeWhole(100), whole.isUntouched, whole.wholeText(100)]).toEqual([text, false, undefined])
    expect(whole.takeWhole(100)).toBeUndefined()
    const settled = read()
    settled.settle()
    await Promise.resolve()
    expect(settled.takeWhole(100)).toBe(text)
    expect(read().takeBytes(100)).toEqual(Buffer.from(text, 'latin1'))
    expect(read().takeArrived(100)).toEqual(Buffer.from(text, 'latin1'))
    expect(await read().collect(100)).toEqual(Buffer.from(text, 'latin1'))
    const large = read()
    expect(large.takeWhole(3)).toBeUndefined()
    expect(large.takeWhole(100)).toBe(text)
    const cancelled = read()
    cancelled.cancel()
    expect(cancelled.takeWhole(100)).toBeUndefined()
  })

  it('is not there for a body that is open, larger, empty or settled', () => {
    expect(bodyOf(Buffer.from('part'), false).wholeText(100)).toBeUndefined()
    expect(borrowed(Buffer.from('12345')).wholeText(4)).toBeUndefined()
    expect(borrowed(Buffer.alloc(0)).wholeText(4)).toBeUndefined()
    expect(bodyOf(Buffer.from('settled')).wholeText(100)).toBeUndefined()
  })
})

describe('textBody', () => {
  it('returns a short text as it is, and a longer one as bytes', () => {
    const short = 'ä'.repeat(TEXT_BYTES_MAX)
    expect(textBody(short)).toBe(short)
    expect(textBody(`${short}ä`)).toEqual(Buffer.from(`${short}ä`))
  })
})
