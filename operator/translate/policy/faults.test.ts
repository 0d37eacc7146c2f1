// What becomes of a policy that an older CRD accepted: reported, denied, in force in part, or without effect.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { describe, expect, it } from 'vitest'
import type { Policy } from '#api/ir/types.gen.ts'
import type { KubeObject } from '../kube.ts'
import { snapshotOf } from '../snapshot.ts'
import { translate } from '../cluster/translate.ts'
import { phaseFault } from './faults.ts'
import { TRAFFIC } from './registry.ts'

const SCHEMA = join(import.meta.dirname, '..', '..', '..', 'api', 'v1alpha1', 'schema', 'policy', 'traffic.yaml')
const SETTINGS = { controllerName: 'gw.dev/controller', className: 'gw', clusterDomain: 'cluster.local' }
const REFUSED = 'covers is rejected until it is corrected'
const IDLE = 'it has no effect until it is corrected'

function made(apiVersion: string, kind: string, spec: object): KubeObject {
  return { apiVersion, kind, metadata: { name: 'x', namespace: 'n' }, spec } as KubeObject // some on purpose malformed
}

interface Outcome {
  readonly payloads: readonly Policy['policy'][]
  readonly reported: readonly string[]
}

function outcomeOf(traffic: unknown): Outcome {
  const listeners = [{ name: 'http', port: 80, protocol: 'HTTP' }]
  const group = 'gateway.networking.k8s.io'
  const { perGateway, problems } = translate(
    snapshotOf([
      made(`${group}/v1`, 'GatewayClass', { controllerName: 'gw.dev/controller' }),
      made(`${group}/v1`, 'Gateway', { gatewayClassName: 'x', listeners }),
      made('gw.dev/v1alpha1', 'GwPolicy', { targetRefs: [{ group, kind: 'Gateway', name: 'x' }], traffic }),
    ]),
    SETTINGS,
  )
  return {
    payloads: (perGateway.get('n/x')?.config.policies ?? []).map(({ policy }) => policy),
    reported: problems.filter(({ object }) => object.kind === 'GwPolicy').map(({ message }) => message),
  }
}

describe('a policy that the schema would reject', () => {
  it('rejects the traffic if a security field is wrong, and its other fields are in force', () => {
    const { payloads, reported } = outcomeOf({ csrf: { additionalOrigins: ['shop'] }, delay: { duration: '1s' } })
    expect(payloads).toEqual([
      { traffic: { delay: { ms: 1000 } } },
      { traffic: { deny: { field: 'traffic.csrf', message: expect.stringContaining('additionalOrigins[0]') } } },
    ])
    expect(reported).toEqual([expect.stringContaining(`the traffic that traffic.csrf ${REFUSED}`)])
  })

  it('applies the valid part of other fields', () => {
    const { payloads, reported } = outcomeOf({ headerModifiers: { request: { remove: ['x-a', 5] } } })
    expect(payloads).toEqual([{ traffic: { requestHeaderModifier: { remove: ['x-a'] } } }])
    expect(reported).toEqual([expect.stringContaining(`remove[1] in body must be of type string: "integer"; ${IDLE}`)])
  })

  it('rejects the traffic if no part of a field that changes messages is valid', () => {
    const { payloads } = outcomeOf({ headerModifiers: { request: { remove: 5 } } })
    expect(payloads).toMatchObject([{ traffic: { deny: { field: 'traffic.headerModifiers' } } }])
  })

  it('has no effect if no part of a harmless field is valid', () => {
    const { payloads, reported } = outcomeOf({ hostRewrite: { mode: 'Sometimes' } })
    expect(payloads).toEqual([])
    expect(reported).toEqual([
      `spec.traffic.hostRewrite.mode: Unsupported value: "Sometimes": supported values: "Auto", "None"; ${IDLE}`,
    ])
  })

  it.each<[string, unknown, string]>([
    ['a field that this version does not know', { novelty: {} }, 'spec.traffic.novelty'],
    ['a section of another type', 'all', 'spec.traffic'],
    ['an invalid phase', { phase: 'Early', csrf: {} }, 'spec.traffic.phase'],
  ])('reports %s', (_, traffic, path) => {
    expect(outcomeOf(traffic).reported).toEqual([expect.stringContaining(path)])
  })

  it('reports eight faults of a field, and how many more there are', () => {
    const { reported } = outcomeOf({ retry: { attempts: 1, codes: Array.from({ length: 20 }, (_, index) => index) } })
    expect(reported.filter((message) => message.includes('.codes['))).toHaveLength(8)
    expect(reported.filter((message) => message.includes('and 12 more'))).toHaveLength(1)
  })
})

describe('phase PreRouting', () => {
  it('accepts the fields that the schema accepts', () => {
    const schema = parse(readFileSync(SCHEMA, 'utf8')) as { 'x-kubernetes-validations': { rule: string }[] } // ours
    const rule = schema['x-kubernetes-validations'].find((one) => one.rule.includes('PreRouting'))?.rule ?? ''
    const refused = Object.keys(TRAFFIC).filter((name) => rule.includes(`has(self.${name})`))
    const faulty = Object.keys(TRAFFIC).filter(
      (name) => phaseFault(name, `spec.traffic.${name}`, 'PreRouting') !== undefined,
    )
    expect(faulty).toEqual(refused)
    expect(refused.length).toBeGreaterThan(5)
  })

  it('rejects the traffic if a security field cannot run in it, and leaves out other fields', () => {
    const { payloads, reported } = outcomeOf({ phase: 'PreRouting', csrf: {}, delay: { duration: '1s' }, cors: {} })
    expect(payloads).toMatchObject([{ traffic: { cors: {} } }, { traffic: { deny: { field: 'traffic.csrf' } } }])
    const cure = 'cannot run in phase PreRouting: move it to a policy with phase PostRouting'
    expect(reported).toEqual([
      expect.stringContaining('phase PreRouting allows only'),
      `spec.traffic.csrf ${cure}; the traffic that traffic.csrf ${REFUSED}`,
      `spec.traffic.delay ${cure}; ${IDLE}`,
    ])
  })
})
