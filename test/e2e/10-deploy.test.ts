// The result of `make deploy` in the cluster.
import { describe, expect, it } from 'vitest'
import { conditionOf, get, kubectl, list, waitFor } from './suite/kubectl.ts'

describe('deploy', () => {
  it('serves the kinds, and has an accepted class', async () => {
    const crds = await list('crd')
    const established = crds.filter((crd) => conditionOf(crd, 'Established')?.status === 'True')
    expect(established.map(({ metadata }) => metadata.name)).toEqual(
      expect.arrayContaining(['gwbackends.gw.dev', 'gwmodels.gw.dev', 'gwparameters.gw.dev', 'gwpolicies.gw.dev']),
    )
    const accepted = await waitFor('class gw is accepted', async () => {
      const gatewayClass = await get('gatewayclass', '', 'gw')
      return conditionOf(gatewayClass, 'Accepted')?.status === 'True' ? gatewayClass : undefined
    })
    expect(accepted.spec?.['controllerName']).toBe('gw.dev/controller')
  })

  it('has a class that claims retries if HTTPRoutes have the field', async () => {
    const crd = JSON.stringify(await get('crd', '', 'httproutes.gateway.networking.k8s.io'))
    const hasField = crd.includes('"retry":{')
    const claimed = await waitFor('the features of the class', async () => {
      const features = JSON.stringify((await get('gatewayclass', '', 'gw'))?.status?.['supportedFeatures'] ?? [])
      return features.includes('"HTTPRoute"') && features.includes('"HTTPRouteRetry"') === hasField
        ? features
        : undefined
    })
    expect(claimed.includes('"HTTPRouteRetryConnectionError"')).toBe(hasField)
  })

  it('has one leader', async () => {
    const leases = await list('leases.coordination.k8s.io', '-n', 'gw-system')
    expect(leases).toHaveLength(1)
    expect(leases[0]?.spec?.['holderIdentity']).toEqual(expect.any(String))
  })

  it('can be applied again without a change', async () => {
    const before = await get('deployment', 'gw-system', 'gw-controller')
    const environment = { ...process.env, IMAGE_TAG: process.env['GW_E2E_TAG'] ?? '' }
    const { execFileSync } = await import('node:child_process')
    execFileSync('hack/deploy.sh', ['up'], { env: environment, stdio: 'pipe' })
    const after = await get('deployment', 'gw-system', 'gw-controller')
    expect(after?.metadata.generation).toBe(before?.metadata.generation)
  })

  it('gives the controller only the rights that it needs', async () => {
    const account = 'system:serviceaccount:gw-system:gw-controller'
    const can = async (...words: string[]): Promise<string> =>
      (await kubectl(['auth', 'can-i', ...words, '--as', account]).catch((error: unknown) => String(error))).trim()
    expect(await can('get', 'secrets', '-n', 'default')).toBe('yes')
    expect(await can('patch', 'deployments', '-n', 'default')).toBe('yes')
    expect(await can('update', 'leases', '-n', 'gw-system')).toBe('yes')
    expect(await can('update', 'leases', '-n', 'kube-system')).toMatch(/no$/m)
    expect(await can('create', 'pods/exec', '-n', 'default')).toMatch(/no$/m)
    expect(await can('delete', 'gateways.gateway.networking.k8s.io', '-n', 'default')).toMatch(/no$/m)
    expect(await can('create', 'clusterrolebindings')).toMatch(/no$/m)
  })
})
