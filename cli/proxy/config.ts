// gw proxy config: reads the dump of a proxy, or of a file, and prints it.
import { readFileSync } from 'node:fs'
import { dataText, printError, reasonText } from '../output.ts'
import { withProgress } from '../progress.ts'
import { AdminClient } from '../portforward/admin-client.ts'
import { targetOf, type ProxyTransport, type TargetFlags } from '../portforward/targets.ts'
import { transportsOf } from '../portforward/transports.ts'
import { BACKEND_HEAD, cellsOf, endpointRows, type Dump } from './backends.ts'
import { routeRows } from './rows.ts'
import { policiesTable, routesTable, summaryOf } from './summary.ts'
import { table } from './table.ts'

export type ConfigPart = 'all' | 'backends' | 'routes' | 'policies'

export interface ConfigFlags extends TargetFlags {
  readonly file?: string
  /** `short`: the same as `table`. */
  readonly output: 'table' | 'short' | 'json' | 'yaml'
  readonly all?: boolean
}

interface Source {
  /** `gateway/web.shop (pod web-1.shop)`: the heading if there are several; undefined for a file. */
  readonly heading: string | undefined
  readonly gateway: string | undefined
  readonly proxy: string
  readonly dump: Dump
}

/** Resolves to the exit code. */
export async function configCommand(
  part: ConfigPart,
  { resource, flags }: { readonly resource: string | undefined; readonly flags: ConfigFlags },
): Promise<number> {
  try {
    const { sources, failures } = await sourcesOf(resource, flags)
    for (const failure of failures) printError(reasonText(failure))
    if (sources.length > 0) process.stdout.write(textOf(part, sources, flags))
    return failures.length === 0 ? 0 : 1
  } catch (error) {
    printError(reasonText(error))
    return 1
  }
}

function textOf(part: ConfigPart, sources: readonly Source[], flags: ConfigFlags): string {
  const { output, all = false } = flags
  const { table: print, value } = PARTS[part]
  const isTable = output === 'table' || output === 'short'
  const [first] = sources
  if (first !== undefined && sources.length === 1) {
    return isTable ? print(first.dump, all) : dataText(value(first.dump, all), output)
  }
  if (isTable) return sources.map(({ heading = '', dump }) => `${heading}\n${print(dump, all)}`).join('\n')
  return dataText(
    sources.map(({ gateway, proxy, dump }) => ({ gateway, proxy, [part]: value(dump, all) })),
    output,
  )
}

/** `all`: also endpoints without requests. */
type Printer<T> = (dump: Dump, all: boolean) => T

const PARTS: { readonly [P in ConfigPart]: { readonly table: Printer<string>; readonly value: Printer<unknown> } } = {
  all: { table: summaryOf, value: (dump) => dump },
  backends: { table: backendsTable, value: backendRows },
  routes: { table: routesTable, value: routeRows },
  policies: { table: policiesTable, value: ({ policies }) => policies },
}

function backendRows(dump: Dump, all: boolean): ReturnType<typeof endpointRows> {
  const rows = endpointRows(dump, all)
  if (rows.length === 0) printError(emptyHint(endpointRows(dump, true).length))
  return rows
}

function backendsTable(dump: Dump, all: boolean): string {
  return table(
    BACKEND_HEAD,
    backendRows(dump, all).map((row) => cellsOf(row, Date.now())),
  )
}

function emptyHint(endpoints: number): string {
  if (endpoints === 0) return 'this proxy has no backends'
  const subject = endpoints === 1 ? '1 endpoint' : `${endpoints} endpoints`
  return `${subject} received no request yet; --all shows ${endpoints === 1 ? 'it' : 'them'}`
}

interface Sources {
  readonly sources: readonly Source[]
  /** Of proxies that cannot be read. */
  readonly failures: readonly unknown[]
}

/** One for each Gateway: its pods have the same configuration. @throws {Error} with a message for the user */
async function sourcesOf(resource: string | undefined, flags: ConfigFlags): Promise<Sources> {
  const { file } = flags
  if (file !== undefined) {
    if (flags.local === true) throw new Error('--file shows a saved dump: omit --local')
    if (resource !== undefined) throw new Error(`--file shows a saved dump: omit ${resource}`)
    const dump = parse(readFileSync(file === '-' ? 0 : file, 'utf8'), file)
    return { sources: [{ heading: undefined, gateway: undefined, proxy: file, dump }], failures: [] }
  }
  const target = targetOf(flags, resource)
  if ('problem' in target) throw new Error(target.problem)
  const groups = Object.values(Object.groupBy(await transportsOf(target), ({ gateway, label }) => gateway ?? label))
  const [sources, failures]: [Source[], unknown[]] = [[], []]
  for (const [first, ...others] of groups.map((group = []) => group)) {
    if (first === undefined) continue
    if (others.length > 0) printError(`${first.label} is one of ${others.length + 1} pods; pod/NAME selects another`)
    try {
      sources.push(await sourceOf(first))
    } catch (error) {
      failures.push(error)
    }
  }
  return { sources, failures }
}

async function sourceOf(transport: ProxyTransport): Promise<Source> {
  const { label, gateway } = transport
  const call = new AdminClient(transport).ask('GET', '/config_dump')
  const { status, text } = await withProgress(`reading the configuration of ${label}`, call)
  if (status !== 200) throw new Error(`the admin server ${label} returned ${status}: ${text.trimEnd()}`)
  const heading = gateway === undefined ? label : `${gateway} (pod ${label})`
  return { heading, gateway, proxy: label, dump: parse(text, label) }
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
