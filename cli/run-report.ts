// The messages of `gw run` besides the log of its proxy: on standard error, as text or as JSON lines of the same form.
import { printable, printableJson } from '#api/printable.ts'
import type { FileProblem } from '#api/source/document.ts'
import { printError } from './output.ts'
import { boundedProblems, formatProblems, sortedProblems } from './report.ts'

export type LogFormat = 'text' | 'json'

export class RunReport {
  /** Set when it is known: the file itself may set it. */
  format: LogFormat = 'text'
  readonly #write: (line: string) => void

  constructor(write: (line: string) => void = printError) {
    this.#write = write
  }

  problems(problems: readonly FileProblem[]): void {
    if (problems.length === 0) return
    const shown = boundedProblems(problems)
    if (this.format === 'text') {
      this.#write(formatProblems(shown))
      return
    }
    for (const { severity, message, file, line, column, path } of sortedProblems(shown)) {
      const place = line === 0 ? { file } : { file, line, column, path }
      this.#json(severity === 'error' ? 'error' : 'warn', message, place)
    }
  }

  /** Reports why the command ends, or why nothing changes. */
  error(message: string): void {
    this.#line('error', message, '')
  }

  /** As `error`, for text of ours alone, with its line ends. */
  guide(message: string): void {
    if (this.format === 'text') this.#write(message)
    else this.#json('error', message, {})
  }

  warn(message: string): void {
    this.#line('warn', message, 'gw: ')
  }

  info(message: string): void {
    this.#line('info', message, 'gw: ')
  }

  #line(level: 'error' | 'warn' | 'info', message: string, prefix: string): void {
    if (this.format === 'text') this.#write(prefix + printable(message))
    else this.#json(level, message, {})
  }

  #json(level: string, message: string, fields: object): void {
    const time = new Date().toISOString()
    this.#write(printableJson(JSON.stringify({ level, time, scope: 'gw', message, ...fields })))
  }
}
