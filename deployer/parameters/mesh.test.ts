import { describe, expect, it } from 'vitest'
import type { MeshIntegration } from '#api/v1alpha1/gwparameters.gen.ts'
import type { MeshSettings } from '../input.ts'
import { effectiveMesh } from './mesh.ts'
import { meshConfigMapName, meshTrustDomain } from './mesh-config.ts'

const OFF: MeshSettings = { autoEnabled: false }
const AUTO: MeshSettings = { autoEnabled: true }
const FULL: MeshSettings = {
  autoEnabled: false,
  trustDomain: 'controller.example',
  caAddress: 'https://controller.example',
  clusterId: 'controller',
  network: 'controller',
}

describe('effectiveMesh', () => {
  it.each<[string, MeshIntegration | undefined, MeshIntegration | undefined, MeshSettings, boolean]>([
    ['not configured', undefined, undefined, OFF, false],
    ['settings of the controller alone', undefined, undefined, FULL, false],
    ['the controller turns it on', undefined, undefined, AUTO, true],
    ['an empty block', undefined, {}, OFF, true],
    ['an empty block of the class', {}, undefined, OFF, true],
    ['enabled: true', undefined, { enabled: true }, OFF, true],
    ['enabled: false over the controller', undefined, { enabled: false }, AUTO, false],
    ['enabled: false of the class over the controller', { enabled: false }, undefined, AUTO, false],
    ['the Gateway over the class', { enabled: false }, { enabled: true }, OFF, true],
    ['the Gateway leaves it to the class', { enabled: false }, { network: 'n' }, AUTO, false],
    ['the Gateway stays out', { enabled: true }, { enabled: false }, AUTO, false],
  ])('%s', (_, ofClass, ofGateway, settings, isJoined) => {
    expect(effectiveMesh({ ofClass, ofGateway }, settings) !== undefined).toBe(isJoined)
  })

  it('lets parameters win over the controller, field by field', () => {
    const mesh = effectiveMesh(
      { ofClass: { clusterId: 'class', network: 'class' }, ofGateway: { network: 'gateway' } },
      FULL,
    )
    expect(mesh).toEqual({
      caAddress: 'https://controller.example',
      trustDomain: 'controller.example',
      additionalTrustDomains: [],
      clusterId: 'class',
      network: 'gateway',
    })
  })

  it.each<[string[] | undefined, string[] | undefined, string[]]>([
    [['a'], undefined, ['a']],
    [['a'], [], ['a']],
    [['a'], ['b', 'c'], ['b', 'c']],
    [undefined, ['b'], ['b']],
  ])('takes trust domains %j and %j as %j', (low, high, expected) => {
    const level = (domains: string[] | undefined): MeshIntegration =>
      domains === undefined ? {} : { additionalTrustDomains: domains }
    expect(effectiveMesh({ ofClass: level(low), ofGateway: level(high) }, OFF)?.additionalTrustDomains).toEqual(
      expected,
    )
  })
})

describe('the configuration of the mesh', () => {
  it.each([
    ['', 'istio'],
    ['default', 'istio'],
    ['canary', 'istio-canary'],
  ])('of revision "%s" is in %s', (revision, name) => expect(meshConfigMapName(revision)).toBe(name))

  it.each<[Record<string, string> | undefined, string | undefined]>([
    [undefined, undefined],
    [{}, undefined],
    [{ mesh: 'trustDomain: a.example' }, 'a.example'],
    [{ mesh: 'trustDomain: ""' }, undefined],
    [{ mesh: 'trustDomain: [a]' }, undefined],
    [{ mesh: 'just text' }, undefined],
    [{ mesh: 'a: b: c: {' }, undefined],
  ])('%j gives %s', (data, domain) => expect(meshTrustDomain(data)).toBe(domain))
})
