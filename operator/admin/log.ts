// Log lines of the operator: JSON on standard error, one level for each component, changed while it runs. Values that
// could hold secrets never come here: errors name objects and paths, not bodies.
import { Cause, Logger, References } from 'effect'
import { printableJson } from '#api/printable.ts'
import { LOG_LEVELS, type LogLevel } from '../controllers/settings.ts'

export const COMPONENTS = [
  'default',
  'gateway-controller',
  'deployer',
  'translator',
  'publisher',
  'syncer',
  'status',
  'leader',
  'jwks_store',
] as const

export type LevelChange = { readonly problem: string } | undefined

export class LogLevels {
  readonly #levels = new Map<string, LogLevel>()

  constructor(level: LogLevel) {
    for (const component of COMPONENTS) this.#levels.set(component, level)
  }

  allows(component: string, level: LogLevel): boolean {
    const set = this.#levels.get(component) ?? this.#levels.get('default') ?? 'info'
    return LOG_LEVELS.indexOf(level) <= LOG_LEVELS.indexOf(set)
  }

  /** All components with `level`, or each that is named; a problem changes nothing. */
  change(query: URLSearchParams): LevelChange {
    const wanted = new Map<string, LogLevel>()
    for (const [name, text] of query) {
      const level = LOG_LEVELS.find((one) => one === text)
      if (level === undefined) return { problem: `unknown level "${text}"; use one of ${LOG_LEVELS.join(', ')}` }
      if (name === 'level') for (const component of COMPONENTS) wanted.set(component, level)
      else if (this.#levels.has(name)) wanted.set(name, level)
      else return { problem: `unknown component "${name}"; use one of ${COMPONENTS.join(', ')}` }
    }
    for (const [component, level] of wanted) this.#levels.set(component, level)
    return undefined
  }

  report(): string {
    const lines = [...this.#levels].map(([component, level]) => `${component}: ${level}`)
    return ['current log levels:', '---', ...lines, ''].join('\n')
  }
}

const LEVEL_OF: Readonly<Record<string, LogLevel>> = {
  Fatal: 'error',
  Error: 'error',
  Warn: 'warn',
  Info: 'info',
  Debug: 'debug',
  Trace: 'trace',
}

/** Components are annotations of the fibers: `Effect.annotateLogs('component', …)`. */
export function operatorLogger(levels: LogLevels, write: (line: string) => void): Logger.Logger<unknown, void> {
  return Logger.make(({ message, logLevel, cause, date, fiber }) => {
    const annotations = fiber.getRef(References.CurrentLogAnnotations)
    const { component: named } = annotations
    const component = typeof named === 'string' ? named : 'default'
    const level = LEVEL_OF[logLevel] ?? 'info'
    if (!levels.allows(component, level)) return
    const [text, ...details] = Array.isArray(message) ? message.map(printed) : [printed(message)]
    const line = {
      time: date.toISOString(),
      level,
      msg: text,
      component,
      ...(details.length > 0 && { detail: details.join(' ') }),
      ...(cause.reasons.length > 0 && { error: Cause.pretty(cause) }),
    }
    write(`${printableJson(JSON.stringify(line))}\n`)
  })
}

function printed(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
