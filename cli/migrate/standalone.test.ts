import { describe, expect, it } from 'vitest'
import { migrateStandalone } from './standalone.ts'

const GATEWAY = 'gateways:\n  default:\n    port: 80\n'

/** The migrated policies of a route, without indentation, and the findings. */
function policies(text: string): { text: string; findings: string[] } {
  const migrated = migrateStandalone(`${GATEWAY}routes:\n  - policies: {${text}}\n`)
  const [, inner = ''] = /policies: \{(.*)\}\n$/.exec(migrated.text) ?? []
  return { text: inner, findings: migrated.findings.map((one) => `${one.severity} ${one.path}: ${one.message}`) }
}

describe('migrateStandalone', () => {
  it.each([
    ['basicAuth: {mode: strict, htpasswdFile: /a}', 'basicAuth: {mode: strict, htpasswd: {file: /a}}'],
    [
      'backendAuth: {oauth: {tokenEndpoint: {backend: a}, tokenEndpointPath: /t}}',
      'backendAuth: {oauthTokenExchange: {target: {backend: a}, path: /t}}',
    ],
    [
      'backendAuth: {xaa: {idp: {host: "a:1", clientAuth: {clientId: a, clientSecret: b}, tokenEndpointPath: /t}, resourceAs: {host: "b:1", clientAuth: {clientId: a, clientSecret: b}}, audience: c}}',
      'backendAuth: {crossAppAccess: {identityProvider: {host: "a:1", clientAuth: {clientId: a, clientSecret: b}, path: /t}, resourceAuthorizationServer: {host: "b:1", clientAuth: {clientId: a, clientSecret: b}}, audience: c}}',
    ],
    [
      'mcpAuthentication: {issuer: i, jwksUrl: "http://a/keys", audience: a, resourceMetadata: {}}',
      'mcpAuthentication: {issuer: i, jwks: {url: "http://a/keys"}, audiences: [a], resourceMetadata: {}}',
    ],
    [
      'extAuthz: {host: "a:1", protocol: http, redirect: "1", includeResponseHeaders: [a]}',
      'extAuthz: {host: "a:1", protocol: {http: {redirect: "1", includeResponseHeaders: [a]}}}',
    ],
    ['extAuthz: {host: "a:1", protocol: grpc}', 'extAuthz: {host: "a:1", protocol: {grpc: {}}}'],
    [
      'requestMirror: {percentage: 1, backend: {host: "a:1"}}',
      'requestMirror: {percentage: 1, backend: {host: "a:1"}}',
    ],
  ])('converts %s', (text, expected) => {
    expect(policies(text)).toEqual({ text: expected, findings: [] })
  })

  it.each([
    ['shop.example', 'shop.example:80'],
    ['"2001:db8::1"', '"[2001:db8::1]:80"'],
    ['$HOST', '$HOST:80'],
  ])('converts the backend with the host name %s to a host', (hostname, host) => {
    const migrated = migrateStandalone(`${GATEWAY}routes: [{backends: [{http: {hostname: ${hostname}, port: 80}}]}]\n`)
    expect(migrated).toEqual({ text: `${GATEWAY}routes: [{backends: [{host: ${host}}]}]\n`, findings: [] })
  })

  it.each([
    ['{limit: 5, unit: seconds}', '{tokensPerFill: 5, maxTokens: 5, fillInterval: 1s}'],
    [
      '{limit: 5, unit: Hours, burst: 3, type: tokens}',
      '{type: tokens, tokensPerFill: 5, maxTokens: 8, fillInterval: 1h}',
    ],
  ])('converts the rate limit %s', (limit, expected) => {
    const { text, findings } = policies(`localRateLimit: [${limit}]`)
    expect(text).toBe(`localRateLimit: [${expected}]`)
    expect(findings).toEqual([expect.stringMatching(/^warning routes\[0\]\.policies\.localRateLimit\[0\]: .*check/)])
  })

  it.each([
    ['config: {database: {url: a}}', 'config.database', /is left out: use frontendPolicies/],
    ['config: {pricing: {}}', 'config.pricing', /is left out: use config\.modelCatalog/],
    ['llm: {models: [{name: a, provider: openai, serverTools: {}}]}', 'llm.models[0].serverTools', /is left out/],
  ])('leaves out %s, which protects nothing', (text, path, message) => {
    const migrated = migrateStandalone(`${GATEWAY}${text}\n`)
    expect(migrated.findings).toEqual([{ path, severity: 'warning', message: expect.stringMatching(message) }])
    expect(migrated.text).not.toMatch(/database|pricing|serverTools/)
  })

  it.each([
    ['mcpGuardrails: {processors: [{kind: cel, methods: {a: request}, when: "true", reject: no}]}', 'kind: cel'],
    ['ai: {promptGuard: {request: [{promptInjection: {}}]}}', 'promptInjection: {}'],
    ['apiKey: {mode: strict, keys: [{key: a, allowedModels: [b]}]}', 'allowedModels: [b]'],
    ['localRateLimit: [{limit: 5, unit: fortnights}]', 'limit: 5'],
    ['oauth2: {}', 'oauth2: {}'],
  ])('keeps %s, which protects requests, and reports an error', (text, kept) => {
    const migrated = policies(text)
    expect(migrated.text).toContain(kept)
    expect(migrated.findings).not.toEqual([])
    expect(migrated.findings.every((one) => /^error .*: not migrated: /.test(one))).toBe(true)
  })

  it.each([
    ['jwtAuth: {issuer: i, jwks: "{}"}', 'jwtAuth: has a stricter default here; mode: optional'],
    ['basicAuth: {htpasswd: "a:b"}', 'basicAuth: has a stricter default here; mode: optional'],
    [
      'remoteRateLimit: {host: "a:1", domain: d, descriptors: [{entries: [{key: k, value: "1"}]}]}',
      'remoteRateLimit: has a stricter default here; failureMode: failOpen',
    ],
    [
      'ai: {promptGuard: {request: [{webhook: {host: "a:1"}}]}}',
      'ai.promptGuard.request[0].webhook: has a stricter default here; failureMode: failOpen',
    ],
    ['jwtAuth: {mode: strict, issuer: i, jwks: {file: keys}}', 'jwtAuth.jwks.file: is a relative path'],
    ['oidc: {}', 'oidc: is not supported: all requests it applies to will be rejected'],
  ])('reports the other meaning of %s', (text, finding) => {
    const migrated = policies(text)
    expect(migrated.text).toBe(text)
    expect(migrated.findings).toEqual([expect.stringContaining(`warning routes[0].policies.${finding}`)])
  })

  it('keeps comments and variables, whose values it does not need', () => {
    const text = '# $schema=x ${NOT_SET}\ngateways:\n  default:\n    port: $PORT # of clients\n'
    expect(migrateStandalone(text)).toEqual({ text, findings: [] })
  })

  it('gives equal text for a file that it wrote', () => {
    const { text } = migrateStandalone(`${GATEWAY}routes: [{policies: {basicAuth: {htpasswdFile: a}}}]\n`)
    expect(migrateStandalone(text).text).toBe(text)
  })
})
