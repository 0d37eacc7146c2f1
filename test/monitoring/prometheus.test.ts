// A real Prometheus that scrapes a gateway: it reads all metrics, evaluates all alerts, and answers the queries of the
// dashboard. Needs Prometheus (`apt-get install prometheus`).
// @module-tag full
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { until } from '#test/wait.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const DASHBOARD = join(ROOT, 'config', 'grafana', 'gw-proxy.json')
const RULES = join(ROOT, 'config', 'prometheus', 'alerts.yaml')

const upstream = createServer((_, response) => response.end('hello'))
const folder = mkdtempSync(join(tmpdir(), 'gw-prometheus-'))
let gateway: TestProxy
let prometheus: ChildProcess
let origin: string

beforeAll(async () => {
  const backend = { static: { host: '127.0.0.1', port: await listening(upstream) } }
  gateway = await testProxy({ routes: [{ name: 'web', prefix: '/', backend }] })
  const port = await freePort()
  origin = `http://127.0.0.1:${port}`
  const config = join(folder, 'prometheus.yml')
  const targets = [`127.0.0.1:${gateway.proxy.ports.stats}`]
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
})

afterAll(async () => {
  if (prometheus.exitCode === null && prometheus.kill()) await once(prometheus, 'exit')
  await gateway.stop()
  closeServer(upstream)
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

it('reads the metrics of a gateway', async () => {
  await until('Prometheus has counted requests', async () => {
    expect(await (await fetch(`${gateway.url}/a`)).text()).toBe('hello')
    return Number((await valuesOf('sum(increase(gw_requests_total{status="200"}[1m]))'))[0] ?? 0) > 0
  })
  expect(await valuesOf('up')).toEqual(['1'])
})

it('evaluates the alerts, of which none fires, and that of the missing controller is pending', async () => {
  interface Rule {
    readonly name: string
    readonly health: string
    readonly state: string
  }
  let rules: readonly Rule[] = []
  await until('all alerts are evaluated', async () => {
    const data = (await asked('rules')) as { groups: { rules: Rule[] }[] } // its API
    rules = data.groups.flatMap((group) => group.rules)
    return rules.every(({ health }) => health !== 'unknown')
  })
  expect(rules.filter(({ health }) => health !== 'ok')).toEqual([])
  expect(rules.filter(({ state }) => state === 'firing')).toEqual([])
  expect(rules.find(({ name }) => name === 'GwControllerWithoutLeader')).toMatchObject({ state: 'pending' })
})

it('answers the queries of the dashboard', async () => {
  const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as {
    readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[]
  } // tested in grafana.test.ts
  const filled = new Set<string>()
  for (const { title, targets = [] } of panels) {
    const queries = targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '1m').replaceAll(/\$\w+/g, '.*'))
    const values = await Promise.all(queries.map(valuesOf))
    if (values.flat().length > 0) filled.add(title)
  }
  // Panels of LLM, MCP, TLS, credentials, guards and the controller have no data here.
  expect([...filled]).toEqual(
    expect.arrayContaining(['Requests', 'Duration', 'Client connections', 'Memory', 'Workers']),
  )
})
