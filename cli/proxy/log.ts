// gw proxy log: reads or sets the log levels of every proxy; after a failure it continues with the next one.
import { printable } from '#api/printable.ts'
import { printError, printLine, reasonText } from '../output.ts'
import { AdminClient } from '../portforward/admin-client.ts'
import { transportsOf, type TargetFlags } from '../portforward/targets.ts'

export interface LogFlags extends TargetFlags {
  readonly level?: string
  readonly set?: string
}

const LEVELS: ReadonlySet<string> = new Set(['off', 'error', 'warn', 'info', 'debug', 'trace'])

/** Resolves to the exit code. */
export async function logCommand(flags: LogFlags): Promise<number> {
  const path = pathOf(flags)
  const transports = transportsOf(flags)
  const problem = 'problem' in path ? path.problem : 'problem' in transports ? transports.problem : undefined
  if (problem !== undefined || 'problem' in path || 'problem' in transports) {
    printError(printable(problem ?? ''))
    return 1
  }
  let code = 0
  for (const transport of transports) {
    const client = new AdminClient(transport)
    const prefix = transports.length > 1 ? `${client.label}: ` : ''
    try {
      const { status, text } = await client.ask('POST', path.path)
      if (status === 200) printLine(`${prefix}${text.trimEnd()}`)
      else {
        printError(`${prefix}the admin server returned ${status}: ${text.trimEnd()}`)
        code = 1
      }
    } catch (error) {
      printError(reasonText(error))
      code = 1
    }
  }
  return code
}

function pathOf({ level, set }: LogFlags): { readonly path: string } | { readonly problem: string } {
  const directive = level ?? set
  if (directive === undefined) return { path: '/logging' }
  for (const part of directive.split(',')) {
    const equals = part.indexOf('=')
    if (set !== undefined && equals < 1) return { problem: `--set ${part}: must be module=level` }
    const name = part.slice(equals + 1).trim()
    if (!LEVELS.has(name)) return { problem: `"${name}" is not a level; use one of ${[...LEVELS].join(', ')}` }
  }
  return { path: `/logging?level=${encodeURIComponent(directive)}` }
}
