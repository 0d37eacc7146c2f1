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
import { connectionsText, type EndpointStates, rowKey, statesByRow } from './endpoint-states.ts'
import { givenName } from './given-names.ts'
import type { Limits } from './limits.ts'
import { limitsTable } from './limits-table.ts'
import { routeRows } from './rows.ts'
import { policiesTable, routesTable, summaryOf } from './summary.ts'
import { table } from './table.ts'

export type ConfigPart = 'all' | 'backends' | 'routes' | 'policies' | 'limits'

export interface ConfigFlags extends TargetFlags {
  readonly file?: string
  /** `short`: the same as `table`. */
  readonly output: 'table' | 'short' | 'wide' | 'name' | 'json' | 'yaml'
  readonly all?: boolean
  readonly watch?: boolean
}

interface Source<T> {
  /** `gateway/web.shop (pod web-1.shop)`: the heading if there are several; undefined for a file. */
  readonly heading: string | undefined
  readonly gateway: string | undefined
  readonly proxy: string
  /** The answer of the admin server. */
  readonly answer: T
  /** Read only for tables that show them. */
  readonly states?: EndpointStates | undefined
}

/** Between two readings of `--watch`. */
const WATCH_MS = 2000

interface ConfigCommand {
  readonly resource: string | undefined
  readonly flags: ConfigFlags
}

/** Resolves to the exit code. With `watch`, only after a failure. */
export function configCommand(name: ConfigPart, command: ConfigCommand): Promise<number> {
  return name === 'limits' ? print(name, LIMITS, command) : print(name, PARTS[name], command)
}

async function print<T>(name: ConfigPart, part: Part<T>, { resource, flags }: ConfigCommand): Promise<number> {
  try {
    const read = await readerOf(part, { resource, flags })
    let former = ''
    for (let reading = 1; ; reading++) {
      const { sources, failures } = await read()
      for (const failure of failures) printError(reasonText(failure))
      if (reading === 1) hintAt(part, sources, flags)
      const text = sources.length === 0 ? former : textOf({ name, part, sources }, flags)
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

interface Printed<T> {
  readonly name: ConfigPart
  readonly part: Part<T>
  readonly sources: readonly Source<T>[]
}

function textOf<T>({ name, part, sources }: Printed<T>, flags: ConfigFlags): string {
  const { output, all = false } = flags
  const { table: print, value, names } = part
  if (output === 'name') {
    const lines = sources.flatMap(({ answer }) => names(answer, all))
    return [...new Set(lines)].map((line) => `${printable(line)}\n`).join('')
  }
  const isWide = output === 'wide'
  const isTable = isWide || output === 'table' || output === 'short'
  const [first] = sources
  if (first !== undefined && sources.length === 1) {
    return isTable ? print(first, all, isWide) : dataText(value(first.answer, all), output)
  }
  if (isTable) return sources.map((source) => `${source.heading ?? ''}\n${print(source, all, isWide)}`).join('\n')
  return dataText(
    sources.map(({ gateway, proxy, answer }) => ({ gateway, proxy, [name]: value(answer, all) })),
    output,
  )
}

/** What the admin server returns for a path. */
interface AnswerKind<T> {
  readonly path: string
  /** `a configuration dump`. */
  readonly name: string
  /** Checks its members. A field missing in them prints as empty. */
  readonly is: (value: unknown) => value is T
}

interface Part<T> {
  readonly answer: AnswerKind<T>
  /** `all`: also endpoints without requests. */
  readonly table: (source: Source<T>, all: boolean, isWide: boolean) => string
  /** The wide table also has states of endpoints. */
  readonly hasStates?: boolean
  readonly value: (answer: T, all: boolean) => unknown
  /** `kind/namespace/name`. */
  readonly names: (answer: T, all: boolean) => string[]
  /** Why a list is empty. */
  readonly hint?: (answer: T, all: boolean) => string | undefined
}

const DUMP: AnswerKind<Dump> = {
  path: '/config_dump',
  name: 'a configuration dump',
  is: (value): value is Dump => hasMembers(value, ['binds', 'policies', 'backends', 'services']),
}

const PARTS: { readonly [P in Exclude<ConfigPart, 'limits'>]: Part<Dump> } = {
  all: {
    answer: DUMP,
    table: ({ answer }, _, isWide) => summaryOf(answer, isWide),
    value: (dump) => dump,
    names: (dump) => [...routeNames(dump), ...backendNames(dump, true), ...policyNames(dump)],
  },
  backends: {
    answer: DUMP,
    table: backendsTable,
    hasStates: true,
    value: endpointRows,
    names: backendNames,
    hint: emptyHint,
  },
  routes: {
    answer: DUMP,
    table: ({ answer }, _, isWide) => routesTable(answer, isWide),
    value: routeRows,
    names: routeNames,
  },
  policies: {
    answer: DUMP,
    table: ({ answer }, _, isWide) => policiesTable(answer, isWide),
    value: ({ policies }) => policies,
    names: policyNames,
  },
}

const LIMITS: Part<Limits> = {
  answer: {
    path: '/limits',
    name: 'an answer of /limits',
    is: (value): value is Limits => hasMembers(value, ['local', 'global', 'omitted']),
  },
  table: ({ answer }, _, isWide) => limitsTable(answer, isWide),
  value: (limits) => limits,
  names: ({ local, global }) => [...local, ...global].map(({ source: { kind, key } }) => `${kind}/${key}`),
  hint: ({ local, global }) => (local.length + global.length === 0 ? 'this proxy has no rate limits' : undefined),
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

function backendsTable({ answer: dump, states }: Source<Dump>, all: boolean, isWide: boolean): string {
  const rows = endpointRows(dump, all)
  const now = Date.now()
  if (!isWide) {
    return table(
      BACKEND_HEAD,
      rows.map((row) => cellsOf(row, now)),
    )
  }
  const known = statesByRow(states)
  return table(
    WIDE_HEAD,
    rows.map((row) => wideCellsOf(row, now, connectionsText(known.get(rowKey(row))))),
  )
}

function hintAt<T>({ hint }: Part<T>, sources: readonly Source<T>[], { all = false }: ConfigFlags): void {
  for (const { answer } of sources) {
    const text = hint?.(answer, all)
    if (text !== undefined) printError(text)
  }
}

function emptyHint(dump: Dump, all: boolean): string | undefined {
  if (endpointRows(dump, all).length > 0) return undefined
  const endpoints = endpointRows(dump, true).length
  if (endpoints === 0) return 'this proxy has no backends'
  const subject = endpoints === 1 ? '1 endpoint' : `${endpoints} endpoints`
  return `${subject} received no request yet; --all shows ${endpoints === 1 ? 'it' : 'them'}`
}

interface Sources<T> {
  readonly sources: readonly Source<T>[]
  /** Of proxies that cannot be read. */
  readonly failures: readonly unknown[]
}

/** One source for each Gateway: its pods have the same configuration. @throws {Error} with a message for the user */
async function readerOf<T>(part: Part<T>, { resource, flags }: ConfigCommand): Promise<() => Promise<Sources<T>>> {
  const { file } = flags
  if (file !== undefined) {
    if (flags.watch === true) throw new Error('--file shows a saved dump: omit --watch')
    if (flags.local === true) throw new Error('--file shows a saved dump: omit --local')
    if (resource !== undefined) throw new Error(`--file shows a saved dump: omit ${resource}`)
    const answer = parse(part.answer, readFileSync(file === '-' ? 0 : file, 'utf8'), file)
    return () =>
      Promise.resolve({ sources: [{ heading: undefined, gateway: undefined, proxy: file, answer }], failures: [] })
  }
  const target = targetOf(flags, resource)
  if ('problem' in target) throw new Error(target.problem)
  const groups = [...Map.groupBy(await transportsOf(target), ({ gateway, label }) => gateway ?? label).values()]
  for (const [first, ...others] of groups) {
    if (first !== undefined && others.length > 0)
      printError(`${first.label} is one of ${others.length + 1} pods; pod/NAME selects another`)
  }
  return () =>
    readAll(
      { kind: part.answer, hasStates: part.hasStates === true && flags.output === 'wide' },
      groups.flatMap((group) => group.slice(0, 1)),
    )
}

interface Wanted<T> {
  readonly kind: AnswerKind<T>
  readonly hasStates: boolean
}

async function readAll<T>({ kind, hasStates }: Wanted<T>, transports: readonly ProxyTransport[]): Promise<Sources<T>> {
  const [sources, failures]: [Source<T>[], unknown[]] = [[], []]
  for (const transport of transports) {
    try {
      const source = await sourceOf(kind, transport)
      sources.push(hasStates ? { ...source, states: await statesOf(transport) } : source)
    } catch (error) {
      failures.push(error)
    }
  }
  return { sources, failures }
}

async function sourceOf<T>(kind: AnswerKind<T>, transport: ProxyTransport): Promise<Source<T>> {
  const { label, gateway } = transport
  const call = new AdminClient(transport).ask('GET', kind.path)
  const { status, text } = await withProgress(`reading the configuration of ${label}`, call)
  if (status !== 200) throw new Error(`the admin server ${label} returned ${status}: ${text.trimEnd()}`)
  const heading = gateway === undefined ? label : `${gateway} (pod ${label})`
  return { heading, gateway, proxy: label, answer: parse(kind, text, label) }
}

/** undefined: the proxy is of an earlier version. */
async function statesOf(transport: ProxyTransport): Promise<EndpointStates | undefined> {
  const { status, text } = await new AdminClient(transport).ask('GET', '/endpoints')
  return status === 200 ? (JSON.parse(text) as EndpointStates) : undefined // api/admin/openapi.yaml
}

function parse<T>({ name, is }: AnswerKind<T>, text: string, from: string): T {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Error(`${from}: is not JSON`)
  }
  if (!is(value)) throw new Error(`${from}: is not ${name}`)
  return value
}

function hasMembers(value: unknown, members: readonly string[]): boolean {
  return typeof value === 'object' && value !== null && members.every((member) => Object.hasOwn(value, member))
}
