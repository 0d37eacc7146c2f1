// Responses to clients while a policy has a value that only an older CRD accepted: the goldens of broken fields, on a
// real proxy. Fields that fail closed cause 403; with the others requests pass.
// @module-tag full
import { createServer } from 'node:http'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { applyDefaults } from '#api/validate/validate.ts'
import type { KubeObject } from '#operator/translate/kube.ts'
import { BACKEND, FRONTEND, TRAFFIC } from '#operator/translate/policy/registry.ts'
import { snapshotOf } from '#operator/translate/snapshot.ts'
import { translate } from '#operator/translate/cluster/translate.ts'
import { startProxy, type RunningProxy } from '#proxy/main.ts'
import { ask } from '../conformance/suite/ask.ts'
import { closeServer, freePort, listening } from '../ports.ts'
import { firstOf } from '../run/table.ts'
import { ON_LOOPBACK } from '../../proxy/main.testing.ts'

const GOLDENS = join(import.meta.dirname, '..', '..', 'operator', 'translate', 'testdata')
const SETTINGS = { controllerName: 'gw.dev/controller', className: 'gw', clusterDomain: 'cluster.local' }
const API = 'gateway.networking.k8s.io'

const FIELDS = Object.entries({ traffic: TRAFFIC, frontend: FRONTEND, backend: BACKEND }).flatMap(
  ([section, registry]) =>
    Object.entries(registry as Record<string, { failureMode: string }>).map(
      ([field, { failureMode }]): [string, string, string] => [section, field, failureMode],
    ),
)
/** `keep`, and the golden has no valid part. */
const NOTHING_RIGHT: ReadonlySet<string> = new Set(['traffic.transformation', 'backend.transformation'])

const upstream = createServer((_, response) => response.end('served'))
let proxy: RunningProxy
let upstreamPort: number

beforeAll(async () => {
  upstreamPort = await listening(upstream)
  proxy = await startProxy({ ...ON_LOOPBACK, accessLog: false, logLevel: 'error' })
})

afterAll(async () => {
  await proxy.stop({ isForced: true })
  closeServer(upstream)
})

describe('a request under a policy with a broken field', () => {
  firstOf(18)(FIELDS)('%s.%s: %s', async (section, field, failureMode) => {
    const port = await freePort()
    const rendered = translate(snapshotOf(world(port, brokenPolicy(section, field))), SETTINGS).perGateway.get('shop/x')
    if (rendered === undefined) throw new Error('nothing is rendered')
    const applied = await proxy.apply(rendered.config, rendered.secrets)
    expect(applied).not.toHaveProperty('problem')
    const { status, text } = await ask(`http://127.0.0.1:${port}/`)
    if (failureMode === 'deny' || NOTHING_RIGHT.has(`${section}.${field}`)) {
      expect({ status, text }).toEqual({ status: 403, text: 'denied by policy' })
    } else {
      // The valid entry answers.
      expect(status).toBe(field === 'directResponse' ? 503 : 200)
    }
  })
})

/** With the target of this test. */
function brokenPolicy(section: string, field: string): object {
  const name = field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const text = readFileSync(join(GOLDENS, section, `${name}-broken.in.yaml`), 'utf8')
  const documents = parseAllDocuments(text).map((document) => document.toJS() as KubeObject) // written by hand
  const policy = documents.find(({ kind }) => kind === 'GwPolicy') as (KubeObject & { spec: object }) | undefined
  const kind = section === 'frontend' ? 'Gateway' : 'HTTPRoute'
  return { ...policy?.spec, targetRefs: [{ group: API, kind, name: 'x' }] }
}

function world(port: number, policy: object): KubeObject[] {
  const made = (apiVersion: string, kind: string, spec: object): KubeObject =>
    ({ apiVersion, kind, metadata: { name: 'x', namespace: 'shop' }, spec }) as KubeObject // one is malformed on purpose
  const backendRefs = [{ group: 'gw.dev', kind: 'GwBackend', name: 'x' }]
  const listeners = [{ name: 'http', port, protocol: 'HTTP' }]
  return [
    made(`${API}/v1`, 'GatewayClass', { controllerName: 'gw.dev/controller' }),
    made(`${API}/v1`, 'Gateway', { gatewayClassName: 'x', listeners }),
    made(`${API}/v1`, 'HTTPRoute', { parentRefs: [{ name: 'x' }], rules: [{ backendRefs }] }),
    made('gw.dev/v1alpha1', 'GwBackend', { static: { host: '127.0.0.1', port: upstreamPort } }),
    made('gw.dev/v1alpha1', 'GwPolicy', policy),
  ].map((object) => applyDefaults(object))
}
