// gw proxy config: reads the dump of a proxy, or of a file, and prints it.
import { dataText, printError, reasonText } from '../output.ts'
import { readFileSync } from 'node:fs'
import { AdminClient } from '../portforward/admin-client.ts'
import { transportsOf, type TargetFlags } from '../portforward/targets.ts'
import { BACKEND_HEAD, cellsOf, endpointRows, type Dump } from './backends.ts'
import { summaryOf } from './summary.ts'
import { table } from './table.ts'

export type ConfigFormat = 'short' | 'json' | 'yaml'

export interface ConfigFlags extends TargetFlags {
  readonly file?: string
  readonly output: ConfigFormat
  readonly all?: boolean
}

/** Resolves to the exit code. */
export async function configCommand(part: 'all' | 'backends', flags: ConfigFlags): Promise<number> {
  try {
    const dump = await dumpOf(flags)
    process.stdout.write(part === 'all' ? wholeText(dump, flags.output) : backendsText(dump, flags))
    return 0
  } catch (error) {
    printError(reasonText(error))
    return 1
  }
}

function wholeText(dump: Dump, output: ConfigFormat): string {
  return output === 'short' ? summaryOf(dump) : dataText(dump, output)
}

function backendsText(dump: Dump, { output, all = false }: ConfigFlags): string {
  const rows = endpointRows(dump, all)
  if (rows.length === 0) printError(emptyHint(endpointRows(dump, true).length))
  if (output !== 'short') return dataText(rows, output)
  return table(
    BACKEND_HEAD,
    rows.map((row) => cellsOf(row, Date.now())),
  )
}

function emptyHint(endpoints: number): string {
  if (endpoints === 0) return 'this proxy has no backends'
  const subject = endpoints === 1 ? '1 endpoint' : `${endpoints} endpoints`
  return `${subject} received no request yet; --all shows ${endpoints === 1 ? 'it' : 'them'}`
}

/** @throws {Error} with a message for the user */
async function dumpOf(flags: ConfigFlags): Promise<Dump> {
  if (flags.file !== undefined) {
    if (flags.local === true) throw new Error('--file shows a saved dump: omit --local')
    return parse(readFileSync(flags.file === '-' ? 0 : flags.file, 'utf8'), flags.file)
  }
  const transports = transportsOf(flags)
  if ('problem' in transports) throw new Error(transports.problem)
  const [transport] = transports
  if (transport === undefined) throw new Error('no proxy found')
  const client = new AdminClient(transport)
  const { status, text } = await client.ask('GET', '/config_dump')
  if (status !== 200) throw new Error(`the admin server ${client.label} returned ${status}: ${text.trimEnd()}`)
  return parse(text, client.label)
}

function parse(text: string, from: string): Dump {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Error(`${from}: is not JSON`)
  }
  const isDump =
    typeof value === 'object' &&
    value !== null &&
    ['binds', 'policies', 'backends', 'services'].every((name) => Object.hasOwn(value, name))
  if (!isDump) throw new Error(`${from}: is not a configuration dump`)
  return value as Dump // its parts were checked; a field missing in them prints as empty
}
