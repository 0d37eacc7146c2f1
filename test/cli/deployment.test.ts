// gw translate --deployment through bin/gw: the objects of each Gateway without a cluster, with overlays.
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { gw } from './gw.ts'

interface Shown {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly ownerReferences?: unknown; readonly labels?: object }
  readonly spec?: object
}

const shown = (stdout: string): Shown[] => parseAllDocuments(stdout).map((document): Shown => document.toJS())
const names = (objects: readonly Shown[]): string[] => objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)

describe('gw translate --deployment', () => {
  it('prints the objects of a Gateway with its parameters and overlays', async () => {
    const { code, stdout, stderr } = await gw(
      'translate',
      '--deployment',
      '-f',
      'config/samples/deployment/gateway.yaml',
    )
    expect([code, stderr]).toEqual([0, ''])
    const objects = shown(stdout)
    expect(names(objects)).toEqual([
      'ServiceAccount tuned',
      'Role tuned',
      'RoleBinding tuned',
      'ConfigMap tuned',
      'Service tuned',
      'Deployment tuned',
      'PodDisruptionBudget tuned',
    ])
    const deployment = objects.find(({ kind }) => kind === 'Deployment')
    expect(deployment).toMatchObject({
      spec: {
        replicas: 3,
        template: {
          spec: {
            terminationGracePeriodSeconds: 120,
            containers: [
              {
                name: 'gw',
                resources: { requests: { cpu: '500m' }, limits: { memory: '1Gi' } },
                env: expect.arrayContaining([{ name: 'WORKER_THREADS', value: '2' }]),
              },
            ],
          },
        },
      },
    })
    expect(objects.some(({ metadata }) => metadata.ownerReferences !== undefined)).toBe(false)
  })

  it('prints a list as JSON, of all Gateways of a folder', async () => {
    const { code, stdout } = await gw('translate', '--deployment', '-f', 'config/samples/deployment', '-o', 'json')
    expect(code).toBe(0)
    const { apiVersion, kind, items } = JSON.parse(stdout)
    expect([apiVersion, kind]).toEqual(['v1', 'List'])
    expect(names(items)).toEqual(
      expect.arrayContaining([
        'Deployment tuned',
        'DaemonSet edge',
        'Deployment scaled',
        'HorizontalPodAutoscaler scaled',
      ]),
    )
    expect(stdout).not.toContain('Secret"')
  })

  it('reports problems with their positions, and prints the other Gateways', { tags: ['full'] }, async () => {
    const { code, stdout, stderr } = await gw('translate', '--deployment', '-f', 'test/cli/testdata/deployment')
    expect(code).toBe(1)
    expect(stderr.replaceAll('test/cli/testdata/deployment/', '').trimEnd().split('\n')).toEqual([
      'gateway.yaml:28:5: error: spec.infrastructure.parametersRef: GwParameters apps/absent not found',
      'gateway.yaml:39:11: error: spec.deployment.spec.template.spec.containers: each item needs name, which identifies it',
    ])
    expect(new Set(shown(stdout).map(({ metadata }) => metadata.name))).toEqual(new Set(['fine']))
  })

  it('reports that there is nothing to deploy', { tags: ['full'] }, async () => {
    const { code, stdout, stderr } = await gw('translate', '--deployment', '-f', 'config/samples/standalone/binds.yaml')
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/apiVersion|nothing to deploy/)
  })
})
