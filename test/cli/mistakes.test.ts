// What first users write, and what they are told: the mistake, and the cure.
import { describe, expect, it } from 'vitest'
import { loadManifests } from '#cli/manifests/load.ts'
import { loadStandalone } from '#proxy/config/standalone/load.ts'

const route = (fields: string): string =>
  `gateways: { default: { port: 80 } }\nroutes: [{ backends: [{ host: "a:1" }], ${fields} }]\n`
const policies = (fields: string): string => route(`policies: { ${fields} }`)
const backend = (fields: string): string => `gateways: { default: { port: 80 } }\nroutes: [{ backends: [${fields}] }]\n`

describe('mistakes in standalone files', () => {
  it.each([
    [policies('localRateLimit: {}'), 'localRateLimit: must be a list, not a mapping'],
    [policies('localRateLimit: { fillInterval: 1s }'), 'localRateLimit: must be a list, not a mapping'],
    [
      route('matches: [{ path: { regex: "/(a" } }]'),
      'path.regex: is not a valid regular expression (RE2 syntax): missing closing )',
    ],
    [route('matches: [{ path: { regex: "(?=a)" } }]'), '(RE2 syntax): invalid or unsupported Perl syntax'],
    [
      backend('{ host: "http://a.example:80" }'),
      'host: must be host:port, for example 127.0.0.1:8080 or [::1]:8080; leave out the scheme',
    ],
    [backend('{ host: "HTTPS://a.example/x" }'), 'leave out the scheme and the path, and set backendTLS for https'],
    [policies('timeout: { requestTimeout: 5minutes }'), 'such as 500ms, 10s or 1h30m'],
    [
      policies('timeout: { requestTimeout: 5 }'),
      'requestTimeout: must be a duration with a unit, such as 500ms, 10s or 1h30m',
    ],
    [
      policies('cors: { allowOrigins: [shop.example] }'),
      'must be *, or an origin such as https://shop.example or https://*.shop.example',
    ],
    [policies('cors: { allowOrigins: ["https://shop.example/"] }'), 'without a path'],
  ])('%s', (text, expected) => {
    const { problems } = loadStandalone({ path: 'f.yaml', text, environment: {} })
    expect(problems.map(({ path, message }) => `${path}: ${message}`)).toEqual([expect.stringContaining(expected)])
  })

  it.each(['*', 'https://shop.example', 'https://*.shop.example', 'http://localhost:3000', 'http://[::1]:80'])(
    'the origin %s is none',
    (origin) => {
      const text = policies(`cors: { allowOrigins: ["${origin}"] }`)
      expect(loadStandalone({ path: 'f.yaml', text, environment: {} }).problems).toEqual([])
    },
  )
})

const traffic = (fields: string): string => `
apiVersion: gw.dev/v1alpha1
kind: GwPolicy
metadata: { name: p }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: Gateway, name: g }]
  traffic: { ${fields} }
`
const kind = (apiVersion: string, name: string): string =>
  `apiVersion: ${apiVersion}\nkind: ${name}\nmetadata: { name: x }\nspec: {}\n`

describe('mistakes in manifests', () => {
  it.each([
    [
      traffic('timeouts: { request: 5minutes }'),
      'error spec.traffic.timeouts.request',
      'write a duration such as 500ms, 10s or 1h30m',
    ],
    [traffic('timeouts: { request: 5 }'), 'error spec.traffic.timeouts.request', 'write it as text, in quotes'],
    [
      traffic('cors: { allowOrigins: [shop.example] }'),
      'error spec.traffic.cors.allowOrigins[0]',
      'write an origin such as https://shop.example',
    ],
    [
      kind('networking.k8s.io/v1', 'Ingress'),
      'warning kind',
      'Ingress of networking.k8s.io/v1 is not read by Gw and has no effect; write a Gateway and an HTTPRoute',
    ],
    [
      kind('networking.istio.io/v1', 'VirtualService'),
      'warning kind',
      'VirtualService of networking.istio.io/v1 is not read by Gw',
    ],
    [kind('gw.dev/v1alpha1', 'GwRoute'), 'error kind', 'unknown kind GwRoute of gw.dev/v1alpha1'],
  ])('%s', (text, place, expected) => {
    const { problems } = loadManifests([{ path: 'f.yaml', text }])
    expect(problems.map(({ severity, path }) => `${severity} ${path}`)).toEqual([place])
    expect(problems[0]?.message).toContain(expected)
  })

  it.each([
    ['apps/v1', 'Deployment'],
    ['v1', 'ServiceAccount'],
    ['networking.k8s.io/v1', 'NetworkPolicy'],
    ['inference.networking.k8s.io/v1', 'InferencePool'],
    ['rbac.authorization.k8s.io/v1', 'Role'],
  ])('%s %s beside routes is none', (apiVersion, name) => {
    expect(loadManifests([{ path: 'f.yaml', text: kind(apiVersion, name) }]).problems).toEqual([])
  })
})
