// Tenants that request more than they may have: the controller and admission policies reject their Gateways.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { applyObject, type Condition, conditionOf, get, kubectl, waitFor } from './suite/kubectl.ts'

const TENANT = 'tenant'
const GATEWAY = { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'Gateway' }
const PARAMETERS_REF = { group: 'gw.dev', kind: 'GwParameters', name: 'root' }
const SETUP_MS = 60_000

async function gateway(name: string, infrastructure: object, hostname?: string): Promise<void> {
  const listener = { name: 'http', port: 8080, protocol: 'HTTP', ...(hostname !== undefined && { hostname }) }
  const spec = { gatewayClassName: 'gw', infrastructure, listeners: [listener] }
  await applyObject({ ...GATEWAY, metadata: { name, namespace: TENANT }, spec })
}

async function parameters(spec: object): Promise<void> {
  const metadata = { name: 'root', namespace: TENANT }
  await applyObject({ apiVersion: 'gw.dev/v1alpha1', kind: 'GwParameters', metadata, spec })
}

async function refused(name: string): Promise<Condition> {
  return waitFor('the refusal', async () => {
    const accepted = conditionOf(await get('gateway', TENANT, name), 'Accepted')
    return accepted?.status === 'False' ? accepted : undefined
  })
}

beforeAll(async () => {
  await applyObject({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: TENANT, labels: { 'gw.example/hosts': 'tenant.test' } },
  })
}, SETUP_MS)

afterAll(async () => {
  await kubectl(['delete', '-k', 'config/admission', '--ignore-not-found'])
  await kubectl(['delete', 'namespace', TENANT, '--ignore-not-found', '--wait=false'])
}, SETUP_MS)

describe('a tenant', () => {
  it('gets no pod with the root file system of the node', async () => {
    const volumes = [{ name: 'root', hostPath: { path: '/' } }]
    await parameters({ deployment: { spec: { template: { spec: { hostNetwork: true, volumes } } } } })
    await gateway('host', { parametersRef: PARAMETERS_REF })
    const { reason, message } = await refused('host')
    expect(reason).toBe('InvalidParameters')
    expect(message).toContain('spec.deployment.spec.template.spec.volumes[root].hostPath.path')
    expect(message).toContain('GW_GATEWAY_PARAMETERS_ALLOWED_FIELDS')
    expect(await get('deployment', TENANT, 'host')).toBeUndefined()
  })

  it('gets no injected containers', async () => {
    await gateway('injected', { annotations: { 'vault.hashicorp.com/agent-inject': 'true' } })
    const { message } = await refused('injected')
    expect(message).toContain('spec.infrastructure.annotations[vault.hashicorp.com/agent-inject]')
    expect(await get('deployment', TENANT, 'injected')).toBeUndefined()
  })

  it('can scale its own proxies', async () => {
    await parameters({ deployment: { spec: { replicas: 2 } } })
    await gateway('scaled', { parametersRef: PARAMETERS_REF })
    const deployment = await waitFor('the Deployment', async () => get('deployment', TENANT, 'scaled'))
    expect(deployment.spec?.['replicas']).toBe(2)
  })
})

describe('the examples of admission policies', () => {
  const refusal = async (call: Promise<unknown>): Promise<string> =>
    call.then(
      () => 'accepted',
      (error: unknown) => String(error),
    )

  it('restrict host names, parameters and DNS names of a tenant', async () => {
    await kubectl(['apply', '-k', 'config/admission'])
    await waitFor('the policies', async () => {
      const said = await refusal(gateway('other', {}, 'shop.other.test'))
      return said.includes('each listener needs a hostname that ends with .tenant.test') ? true : undefined
    })
    expect(await refusal(gateway('own', { parametersRef: PARAMETERS_REF }, 'a.tenant.test'))).toContain('parametersRef')
    const dns = { annotations: { 'external-dns.alpha.kubernetes.io/hostname': 'x.test' } }
    expect(await refusal(gateway('own', dns, 'a.tenant.test'))).toContain('annotations of external-dns')
    expect(await refusal(gateway('own', {}, 'a.tenant.test'))).toBe('accepted')
    const manifest = {
      apiVersion: 'gw.dev/v1alpha1',
      kind: 'GwParameters',
      metadata: { name: 'p', namespace: TENANT },
      spec: {},
    }
    const asTenant = kubectl(
      ['create', '-f', '-', '--as', 'tenant', '--as-group', 'system:authenticated'],
      JSON.stringify(manifest),
    )
    expect(await refusal(asTenant)).toMatch(/gw-platform|forbidden/)
  })
})
