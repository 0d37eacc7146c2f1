// `--profile large`: everything that must hold in large numbers, in one table with its goals. Each part can be measured
// alone (`--parts`).
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { measureAcknowledgements } from './acknowledgements.ts'
import type { ExistingEnvironment } from './existing.ts'
import { measureLargeChange } from './large-change.ts'
import { type Delivered, LARGE, measureLargeDelivery } from './large-delivery.ts'
import { measureStarts } from './large-start.ts'
import type { Memory } from './programs.ts'
import type { TranslationTimes } from './translation.ts'

export interface ProfileOptions {
  /** undefined: all. */
  readonly parts: readonly string[] | undefined
  /** Objects that nothing refers to. */
  readonly unrelated: number
}

interface Row {
  readonly what: string
  readonly figure: string
  /** Empty: none. */
  readonly goal: string
}

type Part = (cluster: ExistingEnvironment, options: ProfileOptions) => Promise<readonly Row[]>

const ROUTES = 20_000
const PROXIES = 2000
/** Of each change of a translation: with few of them the code of rare changes is not optimized. */
const ROUNDS = 41
const OUTPUT_MAX = 1024 * 1024
const MIB = 1024 * 1024

/** In this order: the last one fills the API server. */
const PARTS: Readonly<Record<string, Part>> = {
  translation: translations,
  delivery: () => Promise.resolve(deliveries()),
  'new-objects': newObjects,
  acknowledgements,
  starts,
}

export async function printProfile(cluster: ExistingEnvironment, options: ProfileOptions): Promise<void> {
  const names = options.parts ?? Object.keys(PARTS)
  const rows: (Row & { readonly part: string })[] = []
  for (const part of names) {
    const measure = PARTS[part]
    if (measure === undefined) throw new Error(`--parts: ${part} is not one of ${Object.keys(PARTS).join(', ')}`)
    const begun = performance.now()
    for (const row of await measure(cluster, options)) rows.push({ part, ...row })
    console.error(`${part}: ${seconds(performance.now() - begun)}`)
  }
  console.table(rows)
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

/** Goals by change. */
const OF_ONE_GATEWAY = { touched: '10 ms', unrelated: '1 ms', gateway: '50 ms' }
const OF_MANY_GATEWAYS = { touched: '15 ms', unrelated: '', gateway: '' }

/** In a process of its own: its clusters stay in no other figure of memory. */
async function translations(): Promise<readonly Row[]> {
  const args = [join(import.meta.dirname, 'translation.ts'), '--json', '--rounds', String(ROUNDS), '--only', '20']
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: OUTPUT_MAX })
  // As it prints them.
  const times = JSON.parse(stdout) as readonly TranslationTimes[]
  return times.map(({ cluster, change, median, max }) => ({
    what: `${cluster}: ${change}`,
    figure: `${median.toFixed(1)} ms (at most ${max.toFixed(1)})`,
    goal: goalOf(cluster, change),
  }))
}

function goalOf(cluster: string, change: string): string {
  const goals = cluster.startsWith('one Gateway') ? OF_ONE_GATEWAY : OF_MANY_GATEWAYS
  if (change.startsWith('changed')) return goals.touched
  if (change.startsWith('unrelated')) return goals.unrelated
  return change.startsWith('annotation') ? goals.gateway : ''
}

function deliveries(): readonly Row[] {
  const measured = measureLargeDelivery(LARGE)
  const rows = Object.entries(measured).map(
    ([what, { objects, bytes, controllerMs, proxyMs }]: [string, Delivered]) => ({
      what,
      figure: `${objects} objects, ${(bytes / MIB).toFixed(2)} MiB; controller ${controllerMs.toFixed(0)} ms, proxy ${proxyMs.toFixed(0)} ms`,
      goal: what === 'all of it' ? 'delivered' : '',
    }),
  )
  const { config, endpoints, secrets } = measured['all of it'].fill
  const percent = (share: number): string => `${Math.round(share * 100)} %`
  const figure = `routes ${percent(config)}, endpoints ${percent(endpoints)}, secrets ${percent(secrets)}`
  return [...rows, { what: 'use of its space', figure, goal: 'warning at 70 %' }]
}

async function newObjects(): Promise<readonly Row[]> {
  const rows = await measureLargeChange(ROUTES)
  const figureOf = (row: object): string =>
    Object.entries(row)
      .filter(([name]) => name !== 'routes' && name !== 'change')
      .map(([name, value]) => `${name} ${String(value)}`)
      .join(', ')
  return rows.map((row) => ({
    what: `${ROUTES} routes, change: ${'change' in row ? String(row.change) : ''}`,
    figure: figureOf(row),
    goal: 'no request above 50 ms; memory within 20 %',
  }))
}

async function acknowledgements(cluster: ExistingEnvironment): Promise<readonly Row[]> {
  const one = await measureAcknowledgements(cluster, PROXIES)
  for (const [reason, count] of one.reasons) console.error(`${count} failed: ${reason}`)
  const of = `${PROXIES} proxies`
  return [
    { what: `${of}: the ${one.first} that conditions depend on`, figure: seconds(one.firstMs), goal: '2 s' },
    { what: `${of}: all`, figure: seconds(one.allMs), goal: '60 s' },
    { what: `${of}: most writes in a second`, figure: String(one.writesPerSecondMax), goal: '200' },
    { what: `${of}: calls, failed`, figure: `${one.calls}, ${one.failed}`, goal: `${PROXIES}, 0` },
    { what: `${of}: cores of the API server`, figure: one.cores.toFixed(2), goal: '0.5' },
  ]
}

async function starts(cluster: ExistingEnvironment, { unrelated }: ProfileOptions): Promise<readonly Row[]> {
  const started = await measureStarts(cluster, { routes: ROUTES, unrelated })
  const of = `${ROUTES} routes, ${started.unrelated} unrelated objects`
  const memoryOf = ({ rssMiB, peakMiB }: Memory): string => `${rssMiB.toFixed(0)} MiB (peak ${peakMiB.toFixed(0)})`
  const failed = `${started.failures} of ${started.requests}`
  const cpu = (ms: number): string => `${seconds(ms)} of processor time`
  const change = `${seconds(started.againMs)} (${cpu(started.againCpuMs)})`
  return [
    { what: of, figure: '', goal: '' },
    { what: 'no delivery: served', figure: `${seconds(started.firstMs)} (${cpu(started.firstCpuMs)})`, goal: '15 s' },
    { what: 'with the delivery: served by a new proxy', figure: seconds(started.newProxyMs), goal: '5 s' },
    { what: 'meanwhile not served by another proxy', figure: failed, goal: 'none' },
    { what: 'with the delivery: an earlier change served', figure: change, goal: '' },
    { what: 'memory of the controller, no delivery', figure: memoryOf(started.first), goal: '400 MiB' },
    { what: 'memory of the controller, with the delivery', figure: memoryOf(started.again), goal: '400 MiB' },
  ]
}
