// The alerts of config/prometheus use existing metrics, have a runbook, and fire when they should, in the rules of
// Prometheus itself. Needs promtool (`apt-get install prometheus`).
// @module-tag full
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { unknownLabels, unknownMetrics } from './known-metrics.ts'

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly runbook: string }
}

const ROOT = join(import.meta.dirname, '..', '..')
const ALERTS = join(ROOT, 'config', 'prometheus', 'alerts.yaml')
const OBJECT = join(ROOT, 'config', 'prometheus', 'prometheus-rule.yaml')

const { groups } = parse(readFileSync(ALERTS, 'utf8')) as { groups: { name: string; rules: Rule[] }[] } // a rule file
const rules = groups.flatMap((group) => group.rules)
const folder = mkdtempSync(join(tmpdir(), 'gw-alerts-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A sample each minute, in the notation of promtool. */
type Series = Readonly<Record<string, string>>
const HOUR = 60
const CERTIFICATE = 'gw_certificate_expiration_timestamp_seconds{use="server",owner="a/b",secret="a/tls"}'
const RUNS = 'gw_controller_reconciliations_total{controller="gateway",name="a",namespace="b",result="error"}'
const PRICE = 'gw_cost_catalog_lookups_total{gen_ai_request_model="m",status="Missing"}'
const FETCHES = 'gw_credentials_fetches_total{kind="cloudA",result="unavailable"}'
const GUARDS = 'gw_guardrail_checks_total{phase="Request",action="FailOpen"}'
const FILL = 'gw_controller_delivery_fill_ratio{name="a",namespace="b",part="secrets"}'

/** Requests each minute, with this many of them server errors. */
const requests = (failed: number): Series => ({
  'gw_requests_total{gateway="a/b",route="a/r",status="200"}': `0+${100 - failed}x60`,
  'gw_requests_total{gateway="a/b",route="a/r",status="503"}': `0+${failed}x60`,
})

/** Of each alert: series that raise it after an hour, and series that do not. */
const CASES: Readonly<Record<string, readonly [raised: Series, quiet: Series]>> = {
  GwServerErrors: [requests(6), requests(4)],
  GwConfigRejected: [{ gw_config_rejected_total: '0x55 1x5' }, { gw_config_rejected_total: '1x60' }],
  GwOverloaded: [
    { 'gw_overload_shed_requests_total{instance="p",thread="worker-1"}': '0+5x60' },
    { 'gw_overload_shed_requests_total{instance="p",thread="worker-1"}': '5x60' },
  ],
  GwEventLoopSlow: [
    { 'gw_event_loop_delay_p99_seconds{instance="p",thread="worker-1"}': '0.2x60' },
    { 'gw_event_loop_delay_p99_seconds{instance="p",thread="worker-1"}': '0.05x60' },
  ],
  GwWorkersFail: [
    { 'gw_internal_errors_total{instance="p",thread="worker-1"}': '0x55 1x5' },
    { gw_worker_restarts_total: '0x50 1x10', gw_worker_hangs_total: '0x60' },
  ],
  GwDescriptorsShort: [
    { process_open_fds: '900x60', process_max_fds: '1000x60', 'gw_build_info{tag="v1"}': '1x60' },
    // Another program.
    { process_open_fds: '900x60', process_max_fds: '1000x60' },
  ],
  GwCertificateEnds: [{ [CERTIFICATE]: '86400x180' }, { [CERTIFICATE]: '6048000x180' }],
  GwMeshCertificateEnds: [
    { 'gw_mesh_certificate_expiration_timestamp_seconds{instance="p"}': '5400x60' },
    { 'gw_mesh_certificate_expiration_timestamp_seconds{instance="p"}': '86400x60' },
  ],
  GwCredentialsFail: [
    { [FETCHES]: '0+1x60', 'gw_credentials_tokens{kind="cloudA"}': '0x60' },
    { [FETCHES]: '0+1x60', 'gw_credentials_tokens{kind="cloudA"}': '1x60' },
  ],
  GwGuardsSkipped: [{ [GUARDS]: '_x55 1x5' }, { [GUARDS]: '1x60' }],
  GwToolsChanged: [
    { 'gw_mcp_changed_tools_total{server="files"}': '_x55 1x5' },
    { 'gw_mcp_changed_tools_total{server="files"}': '1x120' },
  ],
  GwCostUnknown: [{ [PRICE]: '_x55 1x5' }, { [PRICE]: '1x120' }],
  GwControllerWithoutLeader: [
    { 'gw_controller_leading{instance="c"}': '0x60' },
    { 'gw_controller_leading{instance="c"}': '1x60', 'gw_controller_leading{instance="d"}': '0x60' },
  ],
  GwControllerFails: [{ [RUNS]: '0+2x60' }, { [RUNS]: '2x60' }],
  GwTranslationFails: [
    { 'gw_controller_internal_errors_total{kind="HTTPRoute"}': '_x55 1x5' },
    { gw_controller_translation_failures_total: '1x60' },
  ],
  GwWatchLost: [
    { 'gw_controller_watch_lost_seconds{kind="Gateway",namespace=""}': '90x60' },
    { 'gw_controller_watch_lost_seconds{kind="Gateway",namespace=""}': '0x60' },
  ],
  GwDeliveryNearlyFull: [{ [FILL]: '0.8x60' }, { [FILL]: '0.6x60' }],
  GwDeliveryRejected: [{ gw_delivery_rejects_total: '0x55 1x5' }, { gw_delivery_rejects_total: '1x60' }],
}

async function promtool(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('promtool', args)
  return stdout
}

function ruleTest(alert: string, series: Series, isFiring: boolean): object {
  const minutes = Object.values(series).some((values) => values.includes('x1')) ? 2 * HOUR : HOUR
  return {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      {
        expr: `count(ALERTS{alertname="${alert}",alertstate="firing"})`,
        eval_time: `${minutes}m`,
        exp_samples: isFiring ? [{ labels: '{}', value: 1 }] : [],
      },
    ],
  }
}

describe('the alerts', () => {
  it('use only existing metrics and labels', () => {
    expect(rules.flatMap(({ expr }) => [...unknownMetrics(expr), ...unknownLabels(expr)])).toEqual([])
  })

  it('have a severity, and a runbook in docs/alerts.md', () => {
    const page = readFileSync(join(ROOT, 'docs', 'alerts.md'), 'utf8')
    const headings = new Set([...page.matchAll(/^### (\w+)$/gm)].map(([, name = '']) => name))
    expect(rules.map(({ alert }) => alert).toSorted()).toEqual([...headings].toSorted())
    for (const { alert, labels, annotations } of rules) {
      expect(['info', 'warning', 'critical']).toContain(labels.severity)
      expect(annotations.runbook).toBe(`docs/alerts.md#${alert.toLowerCase()}`)
    }
  })

  it('are the same for the Prometheus Operator (UPDATE_GOLDEN=1 writes them)', () => {
    const metadata = { name: 'gw', namespace: 'gw-system', labels: { 'app.kubernetes.io/part-of': 'gw' } }
    const object = { apiVersion: 'monitoring.coreos.com/v1', kind: 'PrometheusRule', metadata, spec: { groups } }
    const head = '# Written from alerts.yaml by test/monitoring/alerts.test.ts.\n'
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(OBJECT, head + stringify(object, { lineWidth: 120 }))
    expect(parse(readFileSync(OBJECT, 'utf8'))).toEqual(object)
  })

  it('load in Prometheus', async () => {
    expect(await promtool('check', 'rules', ALERTS)).toContain(`SUCCESS: ${rules.length} rules found`)
  })

  it('all have a case', () => {
    expect(Object.keys(CASES).toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted())
  })

  it.each(Object.entries(CASES))('%s fires, and is quiet', async (alert, [raised, quiet]) => {
    const tests = [ruleTest(alert, raised, true), ruleTest(alert, quiet, false)]
    const file = join(folder, `${alert}.yaml`)
    writeFileSync(file, stringify({ rule_files: [ALERTS], evaluation_interval: '1m', tests }))
    expect(await promtool('test', 'rules', file)).toContain('SUCCESS')
  })
})
