// The access log of a proxy in a file, for tests. Not used by the proxy.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProxyOptions } from '#proxy/main.ts'
import { until } from '#test/wait.ts'

export interface LogFile {
  /** For the proxy that writes it. */
  readonly settings: ProxyOptions
  /** The last line with this text; waits for one. */
  line(text: string): Promise<string>
  /** All lines so far. */
  text(): string
  /** After the proxy has stopped. */
  remove(): void
}

export function logFile(): LogFile {
  const folder = mkdtempSync(join(tmpdir(), 'gw-log-'))
  const file = join(folder, 'log')
  const logFd = openSync(file, 'a')
  return {
    settings: { accessLog: true, logLevel: 'info', logFd },
    async line(text) {
      let found: string | undefined
      await until(`a log line with ${text}`, () => {
        found = readFileSync(file, 'utf8')
          .split('\n')
          .findLast((line) => line.includes(text))
        return found !== undefined
      })
      return found ?? ''
    },
    text: () => readFileSync(file, 'utf8'),
    remove() {
      closeSync(logFd)
      rmSync(folder, { recursive: true })
    },
  }
}
