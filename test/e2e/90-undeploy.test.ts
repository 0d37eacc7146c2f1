// `make undeploy`: fails while Gw is used, then removes everything. It runs late, because it ends the controller.
import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { get, kubectl, list, waitFor } from './suite/kubectl.ts'
import { NAMESPACE, useSample } from './suite/samples.ts'

function undeploy(force: boolean): { code: number | null; stderr: string } {
  const env = { ...process.env, FORCE: force ? '1' : '' }
  const { status, stderr } = spawnSync('hack/deploy.sh', ['down'], { env, encoding: 'utf8', timeout: 280_000 })
  return { code: status, stderr }
}

describe('undeploy', () => {
  it('reports the objects in use, and changes nothing', async () => {
    await useSample('auth')
    const { code, stderr } = undeploy(false)
    expect(code).toBe(1)
    expect(stderr.split('\n').sort()).toEqual(
      expect.arrayContaining([`GwPolicy ${NAMESPACE} auth`, `gateway ${NAMESPACE} auth`]),
    )
    expect(await get('deployment', 'gw-system', 'gw-controller')).toBeDefined()
  })

  it('removes everything of Gw with FORCE=1', async () => {
    await kubectl(['apply', '-f', 'config/components/namespaced/role-bindings.yaml'])
    await kubectl(['apply', '-f', 'config/components/network-policy/proxies.yaml'])
    expect(undeploy(true)).toMatchObject({ code: 0 })
    expect(await list('rolebindings,networkpolicies', '-A', '-l', 'app.kubernetes.io/name=gw-controller')).toEqual([])
    const names = await kubectl(['get', 'crd,clusterrole,clusterrolebinding,gatewayclass,namespace', '-o', 'name'])
    expect(names.split('\n').filter((name) => /(\.gw\.dev$|\/gw$|gw-system)/.test(name))).toEqual([])
    await waitFor('objects of the Gateway to go', async () => {
      const kinds = 'deployments,daemonsets,pods,services,configmaps,secrets,serviceaccounts,roles,rolebindings'
      const left = await list(kinds, '-A', '-l', 'gateway.networking.k8s.io/gateway-name')
      return left.length === 0 ? true : undefined
    })
  })
})
