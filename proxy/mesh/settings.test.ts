// Variables of the mesh.
import { describe, expect, it } from 'vitest'
import { acceptedTrustDomains, meshEnvironment, type MeshSettings } from './settings.ts'

const of = (variables: Record<string, string>) => meshEnvironment((name) => variables[name])

describe('meshEnvironment', () => {
  it('is undefined without an authority', () => expect(of({ TRUST_DOMAIN: 'a' })).toBeUndefined())

  it.each<[string, MeshSettings['ca']]>([
    ['https://istiod.istio-system.svc:15012', { host: 'istiod.istio-system.svc', port: 15_012 }],
    ['https://istiod.istio-system.svc', { host: 'istiod.istio-system.svc', port: 15_012 }],
    ['istiod:443', { host: 'istiod', port: 443 }],
    ['https://[fd00::1]:15012/', { host: 'fd00::1', port: 15_012 }],
    ['https://istiod:0', undefined],
    ['https://istiod:65536', undefined],
    ['http://istiod:15010', undefined],
    ['https://istiod/path', undefined],
    ['https://user@istiod', undefined],
  ])('reads the address %s', (address, ca) => expect(of({ CA_ADDRESS: address })?.ca).toEqual(ca))

  it('has the defaults of the specification', () => {
    expect(of({ CA_ADDRESS: 'istiod' })).toEqual({
      ca: { host: 'istiod', port: 15_012 },
      trustDomain: 'cluster.local',
      additionalTrustDomains: [],
      acceptsAnyTrustDomain: false,
      namespace: '',
      serviceAccount: '',
      clusterId: 'Kubernetes',
      tunnelPort: 15_008,
      tokenFile: '/var/run/secrets/tokens/istio-token',
      rootFile: '/var/run/secrets/istio/root-cert.pem',
    })
  })

  it('reads the identity, and leaves out trust domains that are invalid', () => {
    const settings = of({
      CA_ADDRESS: 'istiod',
      TRUST_DOMAIN: 'a.example',
      ADDITIONAL_TRUST_DOMAINS: 'b.example, c/d,*,a.example',
      NAMESPACE: 'other',
      POD_NAMESPACE: 'apps',
      SERVICE_ACCOUNT: 'web',
    })
    expect(settings).toMatchObject({ namespace: 'apps', serviceAccount: 'web' })
    expect(settings && acceptedTrustDomains(settings)).toEqual(['a.example', 'b.example'])
  })

  it.each([
    [{ SKIP_VALIDATE_TRUST_DOMAIN: 'true' }, ['cluster.local', '*']],
    [{ SKIP_VALIDATE_TRUST_DOMAIN: '1' }, ['cluster.local', '*']],
    [{ SKIP_VALIDATE_TRUST_DOMAIN: 'false' }, ['cluster.local']],
    [{ SKIP_VALIDATE_TRUST_DOMAIN: 'yes' }, ['cluster.local']],
    [{ TRUST_DOMAIN: '*' }, ['']],
  ])('accepts the trust domains of %j', (variables, accepted) => {
    const settings = of({ CA_ADDRESS: 'istiod', ...variables })
    expect(settings && acceptedTrustDomains(settings)).toEqual(accepted)
  })
})
