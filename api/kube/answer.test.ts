import { describe, expect, it } from 'vitest'
import { readJson, readJsonLines } from './answer.ts'

async function* chunks(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

async function eventsOf(lineBytesMax: number, ...texts: readonly string[]): Promise<readonly unknown[]> {
  const events: unknown[] = []
  await readJsonLines(chunks(...texts), (event) => events.push(event), lineBytesMax)
  return events
}

describe('readJson', () => {
  it('joins chunks, also within a character', async () => {
    const bytes = Buffer.from('{"name":"é"}')
    async function* split(): AsyncGenerator<Uint8Array> {
      yield bytes.subarray(0, 10)
      yield bytes.subarray(10)
    }
    expect(await readJson(split(), 100)).toEqual({ name: 'é' })
  })

  it('returns undefined for plain text', async () => expect(await readJson(chunks('not ready'), 100)).toBeUndefined())

  it('accepts exactly the limit and not a byte more', async () => {
    expect(await readJson(chunks('[1', ',2]'), 5)).toEqual([1, 2])
    await expect(readJson(chunks('[1', ',22]'), 5)).rejects.toThrow('larger than 5 bytes')
  })
})

describe('readJsonLines', () => {
  it.each([
    ['one line in two chunks', ['{"a":', '1}\n'], [{ a: 1 }]],
    ['two lines in one chunk', ['1\n2\n'], [1, 2]],
    ['a line feed of its own', ['1', '\n', '2\n'], [1, 2]],
    ['blank lines', ['\n \n1\n'], [1]],
    ['an end within a line', ['1\n{"a"'], [1]],
  ])('%s', async (_name, texts, expected) => expect(await eventsOf(100, ...texts)).toEqual(expected))

  it('limits a line, not the stream', async () => {
    expect(await eventsOf(4, '123\n', '123\n', '123\n')).toEqual([123, 123, 123])
    await expect(eventsOf(4, '12', '345')).rejects.toThrow('larger than 4 bytes')
  })
})
