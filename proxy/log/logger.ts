// The application logger: levels per module, text or JSON lines. Must not be given secrets; see redact.ts.
import { printable, printableJson } from '#api/printable.ts'
import type { LevelFilter } from './level-filter.ts'
import { type Level, addDirectives, formatLevelFilter, levelOfModule, rankOf } from './level-filter.ts'
import { textValue } from './text-value.ts'
import { formatMicros, nowMicros } from './timestamp.ts'

export type LogFormat = 'text' | 'json'
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>

export interface Logger {
  /** True if a line of this level would be written: check before building costly fields. */
  isEnabled(level: Level): boolean
  log(level: Level, message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  debug(message: string, fields?: LogFields): void
}

export interface LoggerRoot {
  /** A logger for one module; cheap to keep, uses the current levels. */
  module(name: string): Logger
  /** The current directive, as `/logging` prints it. */
  readonly directive: string
  /**
   * Adds to the current filter, or to the filter of the start (`isReset`). Returns the problem of an invalid text; then
   * the filter is unchanged.
   */
  changeLevels(directive: string, options: { isReset: boolean }): string | undefined
  /** Replaces the filter. */
  setFilter(filter: LevelFilter): void
  /** Restores the filter of the start. */
  reset(): void
  /** Called after every change; for modules that cache a decision. */
  onChange(listener: () => void): void
}

export interface LoggerOptions {
  readonly format: LogFormat
  readonly filter: LevelFilter
  /** Takes one line including its newline. */
  readonly write: (line: string) => void
}

export function createLogger({ format, filter: initial, write }: LoggerOptions): LoggerRoot {
  let filter = initial
  const listeners: (() => void)[] = []

  function changed(next: LevelFilter): void {
    filter = next
    for (const listener of listeners) listener()
  }

  function moduleLogger(name: string): Logger {
    let rank = rankOf(levelOfModule(filter, name))
    listeners.push(() => {
      rank = rankOf(levelOfModule(filter, name))
    })
    const log = (level: Level, message: string, fields?: LogFields): void => {
      if (rankOf(level) <= rank) write(formatLine({ format, level, scope: name, message, fields }))
    }
    return {
      isEnabled: (level) => rankOf(level) <= rank,
      log,
      error: (message, fields) => log('error', message, fields),
      warn: (message, fields) => log('warn', message, fields),
      info: (message, fields) => log('info', message, fields),
      debug: (message, fields) => log('debug', message, fields),
    }
  }

  return {
    module: moduleLogger,
    get directive() {
      return formatLevelFilter(filter)
    },
    changeLevels(directive, { isReset }) {
      const next = addDirectives(isReset ? initial : filter, directive)
      if ('problem' in next) return next.problem
      changed(next)
      return undefined
    },
    setFilter: changed,
    reset: () => changed(initial),
    onChange: (listener) => {
      listeners.push(listener)
    },
  }
}

interface LineParts {
  readonly format: LogFormat
  readonly level: Level
  readonly scope: string
  readonly message: string
  readonly fields: LogFields | undefined
}

function formatLine({ format, level, scope, message, fields }: LineParts): string {
  const time = formatMicros(nowMicros())
  if (format === 'json') return `${printableJson(JSON.stringify({ level, time, scope, message, ...fields }))}\n`
  let line = `${time}\t${level}\t${scope} ${printable(message)}`
  for (const [name, value] of Object.entries(fields ?? {})) {
    if (value !== undefined) line += ` ${name}=${typeof value === 'string' ? textValue(value) : String(value)}`
  }
  return `${line}\n`
}
