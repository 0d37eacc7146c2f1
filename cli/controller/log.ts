// gw controller log: shows or sets the log levels of every replica of the operator, and continues after a failure.
import { printable } from '#api/printable.ts'
import { messageOf } from '#proxy/exchange/diagnosis.ts'
import { printError, printLine, reasonText } from '../output.ts'
import { AdminClient, type AdminTransport } from '../portforward/admin-client.ts'
import type { ClusterFlags } from '../portforward/targets.ts'
import { controllerTransports } from './transports.ts'

export interface ControllerLogFlags extends ClusterFlags {
  readonly namespace: string
  readonly level?: string
  readonly set: readonly string[]
}

const LEVELS: ReadonlySet<string> = new Set(['error', 'warn', 'info', 'debug', 'trace'])
const PAIR = /^([^=]+)=([^=]*)$/

export async function controllerLogCommand(flags: ControllerLogFlags): Promise<number> {
  const query = queryOf(flags)
  if ('problem' in query) return failed(query.problem)
  let transports: readonly AdminTransport[]
  try {
    transports = await controllerTransports(flags)
  } catch (error) {
    return failed(messageOf(error))
  }
  return askAll(transports, query.path, { print: printLine, warn: printError })
}

function failed(problem: string): number {
  printError(printable(problem))
  return 1
}

/** Path of the request that the flags ask for. */
export function queryOf({
  level,
  set,
}: Pick<ControllerLogFlags, 'level' | 'set'>): { path: string } | { problem: string } {
  if (level !== undefined && set.length > 0) return { problem: '--level and --set cannot be used together' }
  if (level !== undefined) return LEVELS.has(level) ? { path: `/logging?level=${level}` } : unknownLevel(level)
  const query = new URLSearchParams()
  for (const pair of set.flatMap((text) => text.split(','))) {
    const [, name = 'level', value = ''] = PAIR.exec(pair) ?? []
    // `level` would set all components.
    if (name === 'level') return { problem: `--set ${pair}: must be component=level` }
    if (!LEVELS.has(value)) return unknownLevel(pair)
    query.set(name, value)
  }
  return { path: query.size === 0 ? '/logging' : `/logging?${query.toString()}` }
}

function unknownLevel(text: string): { problem: string } {
  return { problem: `${text}: the level must be one of ${[...LEVELS].join(', ')}` }
}

interface Printer {
  readonly print: (line: string) => void
  readonly warn: (line: string) => void
}

/** 1 if any replica failed. */
export async function askAll(
  transports: readonly AdminTransport[],
  path: string,
  { print, warn }: Printer,
): Promise<number> {
  let code = 0
  for (const transport of transports) {
    const client = new AdminClient(transport)
    try {
      const { status, text } = await client.ask('POST', path)
      if (status !== 200) code = 1
      const write = status === 200 ? print : warn
      for (const line of text.trimEnd().split('\n')) write(`${client.label}: ${line}`)
    } catch (error) {
      code = 1
      warn(`${client.label}: ${reasonText(error)}`)
    }
  }
  return code
}
