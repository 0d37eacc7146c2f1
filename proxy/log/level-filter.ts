// Selects log lines: a default level and levels per module, in the env-filter syntax of `/logging` (`info`,
// `info,router=debug`). Pure; independent of the destination of lines.

const LEVELS = ['error', 'warn', 'info', 'debug', 'trace'] as const
export type Level = (typeof LEVELS)[number]
/** `off`: no lines. */
export type FilterLevel = Level | 'off'

/** A longer directive is rejected. */
const DIRECTIVES_MAX = 64
const DIRECTIVE_CHARS_MAX = 4096
const MODULE_NAME = /^[A-Za-z0-9_.:/-]{1,64}$/

export interface LevelFilter {
  readonly defaultLevel: FilterLevel
  /** Module name to level. A module covers its sub-modules: `router` is also `router.match` (or `router::match`). */
  readonly modules: ReadonlyMap<string, FilterLevel>
}

export const LEVEL_NAMES = `levels are off, ${LEVELS.join(', ')}`

export const LEVEL_USAGE = `usage: level=<directive>, a comma-separated list of <level> or <module>=<level>; ${LEVEL_NAMES}`

/** A filter, or a sentence that names the invalid part. */
export function parseLevelFilter(directive: string): LevelFilter | { readonly problem: string } {
  return addDirectives({ defaultLevel: 'info', modules: new Map() }, directive)
}

/** The filter with the directives of the text added; a later directive replaces an earlier one of the same module. */
export function addDirectives(filter: LevelFilter, directive: string): LevelFilter | { readonly problem: string } {
  if (directive.length > DIRECTIVE_CHARS_MAX) return { problem: 'the directive is too long' }
  let { defaultLevel } = filter
  const modules = new Map(filter.modules)
  let count = 0
  for (const part of directive.split(',')) {
    const item = part.trim()
    if (item === '') continue
    count++
    const equals = item.indexOf('=')
    const level = levelOf(equals < 0 ? item : item.slice(equals + 1))
    if (level === undefined) return { problem: `"${item}" is not a log level` }
    if (equals < 0) {
      defaultLevel = level
      continue
    }
    const module = item.slice(0, equals).trim().replaceAll('::', '.')
    if (!MODULE_NAME.test(module)) return { problem: `"${module}" is not a module name` }
    modules.set(module, level)
  }
  if (count === 0) return { problem: 'the directive is empty' }
  if (modules.size > DIRECTIVES_MAX) return { problem: `more than ${DIRECTIVES_MAX} modules` }
  return { defaultLevel, modules }
}

export function formatLevelFilter(filter: LevelFilter): string {
  const parts: string[] = [filter.defaultLevel]
  for (const [module, level] of [...filter.modules].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    parts.push(`${module}=${level}`)
  }
  return parts.join(',')
}

/** The level of a module: its own, else that of the nearest parent (`a` for `a.b`), else the default. */
export function levelOfModule(filter: LevelFilter, module: string): FilterLevel {
  let name = module
  while (name !== '') {
    const level = filter.modules.get(name)
    if (level !== undefined) return level
    const dot = name.lastIndexOf('.')
    name = dot < 0 ? '' : name.slice(0, dot)
  }
  return filter.defaultLevel
}

/** `off` comes before all others. */
export function rankOf(level: FilterLevel): number {
  return level === 'off' ? -1 : LEVELS.indexOf(level)
}

function levelOf(text: string): FilterLevel | undefined {
  const name = text.trim().toLowerCase()
  return name === 'off' ? name : LEVELS.find((level) => level === name)
}
