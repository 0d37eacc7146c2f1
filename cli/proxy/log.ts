// gw proxy log: reads or sets the log levels of every proxy; after a failure it continues with the next one.
import { printable } from '#api/printable.ts'
import { messageOf } from '#proxy/exchange/diagnosis.ts'
import { printError, printLine } from '../output.ts'
import { AdminClient } from '../portforward/admin-client.ts'
import { targetOf, type ProxyTransport, type TargetFlags } from '../portforward/targets.ts'
import { transportsOf } from '../portforward/transports.ts'

export interface LogFlags extends TargetFlags {
  readonly level?: string
  readonly set?: string
}

const LEVELS: ReadonlySet<string> = new Set(['off', 'error', 'warn', 'info', 'debug', 'trace'])

/** Resolves to the exit code. */
export async function logCommand(resource: string | undefined, flags: LogFlags): Promise<number> {
  const [path, target] = [pathOf(flags), targetOf(flags, resource)]
  if ('problem' in path) return failed(path.problem)
  if ('problem' in target) return failed(target.problem)
  let transports: readonly ProxyTransport[]
  try {
    transports = await transportsOf(target)
  } catch (error) {
    return failed(messageOf(error))
  }
  let code = 0
  for (const transport of transports) {
    const client = new AdminClient(transport)
    const prefix = transports.length > 1 ? `${client.label}: ` : ''
    try {
      const { status, text } = await client.ask('POST', path.path)
      if (status === 200) printLine(`${prefix}${text.trimEnd()}`)
      else code = failed(`${prefix}the admin server returned ${status}: ${text.trimEnd()}`)
    } catch (error) {
      code = failed(messageOf(error))
    }
  }
  return code
}

function failed(problem: string): 1 {
  printError(printable(problem))
  return 1
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
