// The controller in single namespaces: it serves them, does not read others, and can be removed completely. It runs
// after `make undeploy`, because its rights differ.
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { proxyImage } from './suite/images.ts'
import { conditionOf, get, kubectl, list, rolledOut, waitFor } from './suite/kubectl.ts'
import { NAMESPACE, programmed } from './suite/samples.ts'

const FOLDER = '.cache/namespaced'
const WATCHED = 'default'
const [, REGISTRY = '', TAG = ''] = /^(.*)\/gw:(.*)$/.exec(proxyImage()) ?? []

/** config/overlays/namespaced with the images of this build. */
function overlay(): object {
  const env = [
    { name: 'GW_PROXY_IMAGE_REGISTRY', value: REGISTRY },
    { name: 'GW_PROXY_IMAGE_TAG', value: TAG },
  ]
  const patch = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'gw-controller', namespace: 'gw-system' },
    spec: { template: { spec: { containers: [{ name: 'controller', env }] } } },
  }
  return {
    resources: ['../../config/overlays/namespaced'],
    images: [{ name: 'gw.dev/gw-controller', newName: `${REGISTRY}/gw-controller`, newTag: TAG }],
    patches: [{ patch: JSON.stringify(patch) }],
  }
}

function gateways(): string {
  const items = [WATCHED, NAMESPACE].map((namespace) => ({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: 'single', namespace },
    spec: { gatewayClassName: 'gw', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
  }))
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
}

function undeploy(): void {
  execFileSync('hack/deploy.sh', ['down'], { env: { ...process.env, FORCE: '1' }, stdio: 'pipe', timeout: 280_000 })
}

beforeAll(async () => {
  undeploy()
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(`${FOLDER}/kustomization.yaml`, JSON.stringify(overlay()))
  await kubectl(['apply', '--server-side', '--force-conflicts', '-k', FOLDER])
  await rolledOut('deployment', 'gw-system', 'gw-controller')
})

afterAll(async () => {
  await kubectl(['delete', '--ignore-not-found', '-f', '-'], gateways())
  rmSync(FOLDER, { recursive: true, force: true })
})

describe('single namespaces', () => {
  it('are served, and others are not changed', async () => {
    await kubectl(['apply', '-f', '-'], gateways())
    await programmed('single', WATCHED)
    expect(conditionOf(await get('gateway', NAMESPACE, 'single'), 'Accepted')?.reason).toBe('Pending')
    expect(await get('deployment', NAMESPACE, 'single')).toBeUndefined()
    const log = await kubectl(['logs', '-n', 'gw-system', 'deployment/gw-controller'])
    expect(log.split('\n').filter((line) => line.includes('forbidden'))).toEqual([])
  })

  it('have none of its rights after its removal', async () => {
    const bindings = async (): Promise<string[]> =>
      (await list('rolebindings', '-A')).filter(({ metadata }) => metadata.name === 'gw-gw-system').map(namespaceOf)
    expect((await bindings()).sort()).toEqual([WATCHED, 'gw-system'])
    undeploy()
    expect(await bindings()).toEqual([])
    await waitFor('its proxies to go', async () =>
      (await list('pods', '-n', WATCHED, '-l', 'gateway.networking.k8s.io/gateway-name')).length === 0
        ? true
        : undefined,
    )
  })
})

function namespaceOf({ metadata: { namespace = '' } }: { metadata: { namespace?: string } }): string {
  return namespace
}
