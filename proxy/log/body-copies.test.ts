// Beginnings of bodies: up to the limit, also of what ends early, and without a change to the body.
import { describe, expect, it } from 'vitest'
import { BodyCopies } from './body-copies.ts'
import { madeStream } from '../message/made-stream.ts'

async function* chunks(...texts: readonly string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text)
}

async function read(body: unknown): Promise<string> {
  let text = ''
  for await (const chunk of body as AsyncIterable<Buffer>) text += chunk.toString() // what `record` gives for streams
  return text
}

describe('BodyCopies', () => {
  it.each([
    [4, 'abcd'],
    [5, 'abcde'],
    [6, 'abcdef'],
    [7, 'abcdef'],
  ])('keeps %i bytes', async (limit, kept) => {
    const copies = new BodyCopies()
    expect(
      await read(
        copies.record(
          'response',
          madeStream(chunks('abc', 'def'), () => {}),
          limit,
        ),
      ),
    ).toBe('abcdef')
    expect(copies.response?.toString()).toBe(kept)
  })

  it('keeps what there was when all is over before the body', async () => {
    const copies = new BodyCopies()
    const iterator = (
      copies.record(
        'response',
        madeStream(chunks('abc', 'def'), () => {}),
        10,
      ) as AsyncIterable<Buffer>
    )[Symbol.asyncIterator]()
    await iterator.next()
    expect(copies.response).toBeUndefined()
    copies.over()
    expect(copies.response?.toString()).toBe('abc')
  })

  it('keeps bodies that are here already', () => {
    const copies = new BodyCopies()
    const body = Buffer.from('abc')
    expect(copies.record('request', body, 2)).toBe(body)
    expect(copies.request?.toString()).toBe('ab')
  })
})
