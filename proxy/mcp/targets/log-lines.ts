// The lines that a process writes to its log, cut if they are too long. A line is never buffered beyond its limit.
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

export const LOG_LINE_CHARS_MAX = 4096

/** Empty lines are dropped, and so is the carriage return at the end of one. */
export function onLogLines(stream: Readable, onLine: (line: string) => void): void {
  const decoder = new StringDecoder('utf8')
  let line = ''
  const add = (text: string): void => {
    line = (line + text.slice(0, LOG_LINE_CHARS_MAX)).slice(0, LOG_LINE_CHARS_MAX)
  }
  const end = (): void => {
    const text = line.replace(/\r$/, '')
    line = ''
    if (text !== '') onLine(text)
  }
  stream.on('data', (chunk: Buffer) => {
    const [first = '', ...others] = decoder.write(chunk).split('\n')
    add(first)
    for (const other of others) {
      end()
      add(other)
    }
  })
  stream.on('end', end)
  // A log that cannot be read any more does not end a session.
  stream.on('error', end)
}
