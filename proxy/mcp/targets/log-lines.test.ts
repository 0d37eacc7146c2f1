import { PassThrough } from 'node:stream'
import { finished } from 'node:stream/promises'
import { expect, it } from 'vitest'
import { LOG_LINE_CHARS_MAX, onLogLines } from './log-lines.ts'

async function linesOf(...chunks: readonly (string | Buffer)[]): Promise<string[]> {
  const stream = new PassThrough()
  const lines: string[] = []
  onLogLines(stream, (line) => lines.push(line))
  for (const chunk of chunks) stream.write(chunk)
  stream.end()
  await finished(stream)
  return lines
}

it('returns whole lines, however they arrive, without empty ones and line ends', async () => {
  expect(await linesOf('one\r\ntw', 'o\n\nth', 'ree')).toEqual(['one', 'two', 'three'])
  const bytes = Buffer.from('ä\n')
  expect(await linesOf(bytes.subarray(0, 1), bytes.subarray(1))).toEqual(['ä'])
})

it('cuts long lines and continues with the next one', async () => {
  const long = 'a'.repeat(LOG_LINE_CHARS_MAX)
  expect(await linesOf(long, `${long}\nnext\n`)).toEqual([long, 'next'])
})
