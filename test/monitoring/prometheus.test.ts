// A real Prometheus that scrapes proxies and a controller under traffic of all kinds: each query of the dashboard and
// each metric of an alert has series. Needs Prometheus (`apt-get install prometheus`).
// @module-tag full
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { type Everything, startEverything } from '#test/observability/everything.ts'
import { sendAll } from '#test/observability/requests.ts'
import { freePort } from '#test/ports.ts'
import { until } from '#test/wait.ts'
import { type MonitoredController, startController } from './controller.ts'
import { bytes, type RareEvents, startRareEvents } from './rare-events.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const DASHBOARD = join(ROOT, 'config', 'grafana', 'gw-proxy.json')
const RULES = join(ROOT, 'config', 'prometheus', 'alerts.yaml')

/** Without a time during which their condition must hold. */
const FIRING = ['GwCostUnknown', 'GwGuardsSkipped', 'GwToolsChanged', 'GwTranslationFails']
const SETUP_MS = 90_000
const FILLED_MS = 20_000
const CASE_MS = 60_000

const folder = mkdtempSync(join(tmpdir(), 'gw-prometheus-'))
let all: Everything
let rare: RareEvents
let controller: MonitoredController
let prometheus: ChildProcess
let origin: string

beforeAll(async () => {
  all = await startEverything()
  rare = await startRareEvents()
  controller = await startController()
  const port = await freePort()
  origin = `http://127.0.0.1:${port}`
  const config = join(folder, 'prometheus.yml')
  const ports = [all.proxy.ports.stats, rare.statsPort, controller.metricsPort]
  const targets = ports.map((one) => `127.0.0.1:${one}`)
  const scrape = { job_name: 'gw', scrape_interval: '1s', scrape_timeout: '1s', static_configs: [{ targets }] }
  writeFileSync(
    config,
    stringify({ global: { evaluation_interval: '1s' }, rule_files: [RULES], scrape_configs: [scrape] }),
  )
  const data = `--storage.tsdb.path=${join(folder, 'data')}`
  const address = `--web.listen-address=127.0.0.1:${port}`
  prometheus = spawn('prometheus', [`--config.file=${config}`, data, address, '--log.level=error'], {
    stdio: 'inherit',
  })
  await Promise.race([
    once(prometheus, 'error').then(([error]) => Promise.reject(error as Error)), // of spawn
    until('Prometheus is ready', () => isReady(`${origin}/-/ready`)),
  ])
  await until('Prometheus has read all three', async () => (await valuesOf('up == 1')).length === 3)
  await sendAll(all)
  await bytes(all.ports.https, 'no handshake\r\n\r\n')
  await rare.cause()
}, SETUP_MS)

afterAll(async () => {
  if (prometheus.exitCode === null && prometheus.kill()) await once(prometheus, 'exit')
  await all.stop()
  await rare.stop()
  await controller.stop()
  rmSync(folder, { recursive: true })
})

async function isReady(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ ok }) => ok,
    () => false,
  )
}

async function asked(path: string): Promise<unknown> {
  const response = await fetch(`${origin}/api/v1/${path}`)
  const { status, data, error } = (await response.json()) as { status: string; data: unknown; error?: string } // its API
  if (status !== 'success') throw new Error(`${path}: ${error}`)
  return data
}

async function valuesOf(query: string): Promise<readonly string[]> {
  const data = (await asked(`query?${new URLSearchParams({ query }).toString()}`)) as {
    readonly result: readonly { readonly value: readonly [number, string] }[]
  } // a vector
  return data.result.map(({ value: [, value] }) => value)
}

interface Query {
  readonly where: string
  readonly expr: string
}

/** Those that have no series yet. */
async function withoutSeries(queries: readonly Query[]): Promise<string[]> {
  const counts = await Promise.all(queries.map(async ({ expr }) => (await valuesOf(expr)).length))
  return queries.flatMap(({ where, expr }, index) => (counts[index] === 0 ? [`${where}: ${expr}`] : []))
}

/** Waits until all have series; the result are those that have none. */
async function filled(queries: readonly Query[]): Promise<string[]> {
  let left: readonly string[] = []
  const isFilled = async (): Promise<boolean> => (left = await withoutSeries(queries)).length === 0
  await until('all queries have series', isFilled, FILLED_MS).catch(() => undefined)
  return [...left]
}

it('reads the metrics of proxies and of a controller', async () => {
  await until('Prometheus has counted requests', async () => {
    return Number((await valuesOf('sum(gw_requests_total{status="200"})'))[0] ?? 0) > 0
  })
  expect(await valuesOf('up')).toEqual(['1', '1', '1'])
})

it('has series for each query of the dashboard', { timeout: CASE_MS }, async () => {
  const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as {
    readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[]
  } // tested in grafana.test.ts
  const queries = panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      where: title,
      expr: expr.replaceAll('$__rate_interval', '1m').replaceAll(/\$\w+/g, '.*'),
    })),
  )
  expect(queries.length).toBeGreaterThan(90)
  expect(await filled(queries)).toEqual([])
})

it('has series with each metric and label that an alert names', { timeout: CASE_MS }, async () => {
  const { groups } = parse(readFileSync(RULES, 'utf8')) as {
    readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[]
  } // a rule file
  const rules = groups.flatMap((group) => group.rules)
  const queries = rules.flatMap(({ alert, expr }) => {
    const matched = [...expr.matchAll(/\b((?:gw|process)_\w+)(?:\{([^}]*)\})?/g)].flatMap(
      ([, name = '', list = '']) => {
        const labels = [...list.matchAll(/(\w+)[!=]~?"/g)].map(([, label = '']) => `${name}{${label}!=""}`)
        return labels.length === 0 ? [name] : labels
      },
    )
    const metrics = [...expr.matchAll(/\b(?:gw|process)_\w+/g)].map(([name]) => name)
    const grouped = [...expr.matchAll(/(?:by|on) \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/, ?/))
    const ofAny = grouped.map((label) => metrics.map((name) => `${name}{${label}!=""}`).join(' or '))
    return [...matched, ...ofAny].map((one) => ({ where: alert, expr: one }))
  })
  expect(queries.length).toBeGreaterThan(rules.length)
  expect(await filled(queries)).toEqual([])
})

it('evaluates the alerts, of which those about what has happened fire', async () => {
  interface Rule {
    readonly name: string
    readonly health: string
    readonly state: string
  }
  let rules: readonly Rule[] = []
  const namesOf = (state: string): string[] => rules.filter((rule) => rule.state === state).map(({ name }) => name)
  await until('all alerts are evaluated', async () => {
    const data = (await asked('rules')) as { groups: { rules: Rule[] }[] } // its API
    rules = data.groups.flatMap((group) => group.rules)
    return rules.every(({ health }) => health !== 'unknown') && namesOf('firing').length >= FIRING.length
  })
  expect(rules.filter(({ health }) => health !== 'ok')).toEqual([])
  expect(namesOf('firing').toSorted()).toEqual(FIRING)
  expect(namesOf('pending')).not.toContain('GwControllerWithoutLeader')
})
