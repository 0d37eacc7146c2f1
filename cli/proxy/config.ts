// gw proxy config: reads the dump of a proxy, or of a file, and prints it.
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { printable } from '#api/printable.ts'
import { dataText, printError, reasonText } from '../output.ts'
import { withProgress } from '../progress.ts'
import { AdminClient } from '../portforward/admin-client.ts'
import { targetOf, type ProxyTransport, type TargetFlags } from '../portforward/targets.ts'
import { transportsOf } from '../portforward/transports.ts'
import { BACKEND_HEAD, cellsOf, endpointRows, WIDE_HEAD, wideCellsOf, type Dump } from './backends.ts'
import { givenName } from './given-names.ts'
import { routeRows } from './rows.ts'
import { policiesTable, routesTable, summaryOf } from './summary.ts'
import { table } from './table.ts'

export type ConfigPart = 'all' | 'backends' | 'routes' | 'policies'

export interface ConfigFlags extends TargetFlags {
  readonly file?: string
  /** `short`: the same as `table`. */
  readonly output: 'table' | 'short' | 'wide' | 'name' | 'json' | 'yaml'
  readonly all?: boolean
  readonly watch?: boolean
}

interface Source {
  /** `gateway/web.shop (pod web-1.shop)`: the heading if there are several; undefined for a file. */
  readonly heading: string | undefined
  readonly gateway: string | undefined
  readonly proxy: string
  readonly dump: Dump
}

/** Between two readings of `--watch`. */
const WATCH_MS = 2000

/** Resolves to the exit code. With `watch`, only after a failure. */
export async function configCommand(
  part: ConfigPart,
  { resource, flags }: { readonly resource: string | undefined; readonly flags: ConfigFlags },
): Promise<number> {
  try {
    const read = await readerOf(resource, flags)
    let former = ''
    for (let reading = 1; ; reading++) {
      const { sources, failures } = await read()
      for (const failure of failures) printError(reasonText(failure))
      if (reading === 1 && part === 'backends') hintAt(sources, flags)
      const text = sources.length === 0 ? former : textOf(part, sources, flags)
      if (text !== former) process.stdout.write(reading === 1 ? text : `\n${text}`)
      if (flags.watch !== true || failures.length > 0) return failures.length === 0 ? 0 : 1
      former = text
      await setTimeout(WATCH_MS)
    }
  } catch (error) {
    printError(reasonText(error))
    return 1
  }
}

function textOf(part: ConfigPart, sources: readonly Source[], flags: ConfigFlags): string {
  const { output, all = false } = flags
  const { table: print, value, names } = PARTS[part]
  if (output === 'name') {
    const lines = sources.flatMap(({ dump }) => names(dump, all))
    return [...new Set(lines)].map((line) => `${printable(line)}\n`).join('')
  }
  const isWide = output === 'wide'
  const isTable = isWide || output === 'table' || output === 'short'
  const [first] = sources
  if (first !== undefined && sources.length === 1) {
    return isTable ? print(first.dump, all, isWide) : dataText(value(first.dump, all), output)
  }
  if (isTable) return sources.map(({ heading = '', dump }) => `${heading}\n${print(dump, all, isWide)}`).join('\n')
  return dataText(
    sources.map(({ gateway, proxy, dump }) => ({ gateway, proxy, [part]: value(dump, all) })),
    output,
  )
}

interface Part {
  /** `all`: also endpoints without requests. */
  readonly table: (dump: Dump, all: boolean, isWide: boolean) => string
  readonly value: (dump: Dump, all: boolean) => unknown
  /** `kind/namespace/name`. */
  readonly names: (dump: Dump, all: boolean) => string[]
}

const PARTS: { readonly [P in ConfigPart]: Part } = {
  all: {
    table: (dump, _, isWide) => summaryOf(dump, isWide),
    value: (dump) => dump,
    names: (dump) => [...routeNames(dump), ...backendNames(dump, true), ...policyNames(dump)],
  },
  backends: { table: backendsTable, value: endpointRows, names: backendNames },
  routes: { table: (dump, _, isWide) => routesTable(dump, isWide), value: routeRows, names: routeNames },
  policies: {
    table: (dump, _, isWide) => policiesTable(dump, isWide),
    value: ({ policies }) => policies,
    names: policyNames,
  },
}

function routeNames(dump: Dump): string[] {
  return routeRows(dump).map(({ namespace, name }) => `route/${namespace}/${givenName(name)}`)
}

function backendNames(dump: Dump, all: boolean): string[] {
  return endpointRows(dump, all).map(({ type, namespace, name }) => `${type.toLowerCase()}/${namespace}/${name}`)
}

function policyNames({ policies }: Dump): string[] {
  return policies.map(({ key }) => `policy/${key}`)
}

function backendsTable(dump: Dump, all: boolean, isWide: boolean): string {
  const rows = endpointRows(dump, all)
  const cells = isWide ? wideCellsOf : cellsOf
  return table(
    isWide ? WIDE_HEAD : BACKEND_HEAD,
    rows.map((row) => cells(row, Date.now())),
  )
}

/** Reports why a list is empty. */
function hintAt(sources: readonly Source[], { all = false }: ConfigFlags): void {
  for (const { dump } of sources) {
    if (endpointRows(dump, all).length === 0) printError(emptyHint(endpointRows(dump, true).length))
  }
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

/** One source for each Gateway: its pods have the same configuration. @throws {Error} with a message for the user */
async function readerOf(resource: string | undefined, flags: ConfigFlags): Promise<() => Promise<Sources>> {
  const { file } = flags
  if (file !== undefined) {
    if (flags.watch === true) throw new Error('--file shows a saved dump: omit --watch')
    if (flags.local === true) throw new Error('--file shows a saved dump: omit --local')
    if (resource !== undefined) throw new Error(`--file shows a saved dump: omit ${resource}`)
    const dump = parse(readFileSync(file === '-' ? 0 : file, 'utf8'), file)
    return () =>
      Promise.resolve({ sources: [{ heading: undefined, gateway: undefined, proxy: file, dump }], failures: [] })
  }
  const target = targetOf(flags, resource)
  if ('problem' in target) throw new Error(target.problem)
  const groups = [...Map.groupBy(await transportsOf(target), ({ gateway, label }) => gateway ?? label).values()]
  for (const [first, ...others] of groups) {
    if (first !== undefined && others.length > 0)
      printError(`${first.label} is one of ${others.length + 1} pods; pod/NAME selects another`)
  }
  return () => readAll(groups.flatMap((group) => group.slice(0, 1)))
}

async function readAll(transports: readonly ProxyTransport[]): Promise<Sources> {
  const [sources, failures]: [Source[], unknown[]] = [[], []]
  for (const transport of transports) {
    try {
      sources.push(await sourceOf(transport))
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
