// Every theme of config/samples on a real API server, applied with the command of the README, with a controller that
// has only the rights of config/rbac.
// @module-tag full
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testPort } from '../../api/v1alpha1/apiserver.testing.ts'
import { findKubectl } from '../find-kubectl.ts'
import { testOperator, type TestOperator } from '../../operator/controllers/operator.testing.ts'
import { until } from '../wait.ts'
import { missing, type RealApiServer, startRealApiServer } from './real-apiserver.ts'
import { accountConfig, clusterWideRights, grant } from './rights.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const SAMPLES = join(ROOT, 'config/samples')
const SETUP_MS = 180_000
const STATUS_MS = 15_000
const THEMES = ['auth', 'delegation', 'grpc', 'http', 'llm', 'mcp', 'parameters', 'rate-limit', 'tcp', 'tls']
/** Not in the standard channel, which this server has. */
const KINDS = 'gateways,httproutes,grpcroutes,gwpolicies,gwbackends'

interface Condition {
  readonly type: string
  readonly status: string
  readonly message: string
}
interface Served {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: { readonly parentRefs?: readonly unknown[] }
  readonly status?: unknown
}

const kubectl = findKubectl()
const reason = missing() ?? (kubectl === undefined ? 'no kubectl (GW_KUBECTL)' : undefined)
if (reason !== undefined) console.log(`skipped: ${reason}`)

/** Conditions of the object itself, its listeners, parents or ancestors. */
function conditionsOf(value: unknown): Condition[] {
  if (Array.isArray(value)) return value.flatMap(conditionsOf)
  if (typeof value !== 'object' || value === null) return []
  // An object with all of these is a condition of Kubernetes.
  if ('type' in value && 'status' in value && 'message' in value) return [value as Condition]
  return Object.values(value).flatMap(conditionsOf)
}

it('every theme of the product has a folder with its upstreams', () => {
  const themes = readdirSync(SAMPLES).filter((name) => existsSync(join(SAMPLES, name, '00-backends.yaml')))
  expect(themes.sort()).toEqual(THEMES)
})

describe.skipIf(reason !== undefined)('samples on a real API server', () => {
  let server: RealApiServer
  let operator: TestOperator

  const run = (...args: readonly string[]): string =>
    execFileSync(kubectl ?? '', args, {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: 'pipe',
      env: { ...process.env, KUBECONFIG: server.kubeconfig },
    })

  const served = (): Served[] =>
    (JSON.parse(run('get', KINDS, '-n', 'demo', '-o', 'json')) as { items: Served[] }).items // a list

  beforeAll(async () => {
    server = await startRealApiServer(testPort())
    const name = 'gw-system'
    await server.apply(`/api/v1/namespaces/${name}`, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    await grant(server, clusterWideRights())
    const environment = { GW_DISABLE_LEADER_ELECTION: 'false' }
    operator = await testOperator({ config: await accountConfig(server), environment })
    await until('the controller is ready', () => operator.operator.isReady(), SETUP_MS)
  }, SETUP_MS)

  afterAll(async () => {
    await operator.stop()
    await server.stop()
  }, SETUP_MS)

  it.each(THEMES)('kubectl apply -f config/samples/%s', { timeout: SETUP_MS }, async (theme) => {
    run('apply', '-f', `config/samples/${theme}`)
    const wrong = (): string[] =>
      served().flatMap(({ kind, metadata, spec, status }) => {
        // The route of a team is a child of another route: it has no status for a Gateway.
        if (kind === 'HTTPRoute' && spec.parentRefs === undefined) return []
        const conditions = conditionsOf(status)
        const needed = conditions.filter(({ type }) => ['Accepted', 'ResolvedRefs', 'Attached'].includes(type))
        if (needed.length === 0) return [`${kind} ${metadata.name}: no status`]
        const bad = needed.filter((one) => one.status !== 'True')
        return bad.map(({ type, message }) => `${kind} ${metadata.name} ${type}: ${message}`)
      })
    let left: string[] = []
    await until(`all of ${theme} is accepted`, () => (left = wrong()).length === 0, STATUS_MS).catch(() => undefined)
    expect(left).toEqual([])
    await until('its proxy is deployed', () => run('get', 'deployments', '-n', 'demo', '-o', 'name').includes(theme))
  })

  it('can be deleted, and the API server rejected no request of the controller', { timeout: SETUP_MS }, async () => {
    for (const theme of THEMES) run('delete', '-f', `config/samples/${theme}/${theme}.yaml`)
    expect(served()).toEqual([])
    expect(operator.log.filter((line) => /forbidden/i.test(line))).toEqual([])
  })
})
