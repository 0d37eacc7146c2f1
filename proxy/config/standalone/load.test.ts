// Mistakes in a standalone file: each has a line, a path and a cure. Valid files: load.golden.test.ts.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadStandalone, type LoadedStandalone } from './load.ts'
import { DENYING_GATEWAY, DENYING_TRAFFIC } from './schema/policies.ts'
import { DENYING_AUTH } from './schema/upstream.ts'

const GATEWAY = 'gateways: { default: { port: 8080 } }\n'
const BACKEND = '{ host: "127.0.0.1:80" }'

function load(text: string, environment: Record<string, string> = {}): LoadedStandalone {
  return loadStandalone({ path: '/nowhere/f.yaml', text, environment })
}

function problems(text: string): string[] {
  return load(text).problems.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`)
}

function route(policies: string, backend = BACKEND): string {
  return `${GATEWAY}routes:\n- policies: { ${policies} }\n  backends: [${backend}]\n`
}

const bind = (fields: string, listener = '{}'): string =>
  `binds: [{ port: 8080, ${fields}, listeners: [${listener}] }]\n`
const exchanged = (policy: string): string => route(`backendAuth: { oauthTokenExchange: ${policy} }`)
const guarded = (guard: string): string => route(`ai: { promptGuard: { request: [${guard}] } }`)

describe('loadStandalone, fields', () => {
  it.each([
    ['gatways: {}', '1:1 gatways: unknown field "gatways"; did you mean gateways?'],
    [`${GATEWAY}rotes: []`, '2:1 rotes: unknown field "rotes"; did you mean routes?'],
    [
      `${GATEWAY}x: 1`,
      /^2:1 x: unknown field "x"; valid fields: config, gateways, routes, tcpRoutes, frontendPolicies, mcp, backends, binds/,
    ],
    ['gateways: { a: {} }', '1:13 gateways.a.port: is required'],
    ['gateways: { a: { port: "80" } }', '1:18 gateways.a.port: must be a number, not a string'],
    ['gateways: { a: { port: 0 } }', '1:18 gateways.a.port: must be at least 1'],
    ['gateways: { a: { port: 65536 } }', '1:18 gateways.a.port: must be at most 65535'],
    ['gateways: { a: { port: 1.5 } }', '1:18 gateways.a.port: must be a whole number, not a number'],
    ['gateways: []', '1:1 gateways: must be a mapping, not a list'],
    ['gateways: { "a/b": { port: 1 } }', /^1:13 gateways\["a\/b"\]: must be letters, digits/],
    ['gateways: { a: { port: 1, protocol: FTP } }', /must be one of HTTP, HTTPS, TLS, TCP/],
    [
      bind('tunnelProtocol: hboneWaypoint'),
      /tunnelProtocol: hboneWaypoint is not supported: the proxy accepts tunnels to/,
    ],
    [bind('tunnelProtocol: socks'), /tunnelProtocol: must be one of direct, proxy, connect, hboneGateway/],
    [bind('tunnelProtocol: hboneGateway'), /tunnelProtocol: hboneGateway needs listeners with protocol HBONE/],
    [
      bind('tunnelProtocol: connect', '{ protocol: TCP }'),
      /tunnelProtocol: connect needs listeners with protocol HTTP/,
    ],
    [
      bind('tunnelProtocol: proxy', '{ protocol: HBONE }'),
      /tunnelProtocol: proxy cannot be combined with protocol HBONE/,
    ],
    [bind('mode: standard', '{ protocol: HBONE, routes: [{}] }'), /listeners\[0\]\.routes: HBONE has none/],
    [
      bind('mode: standard', '{ protocol: HBONE, tls: { cert: c, key: k } }'),
      /listeners\[0\]\.tls: must not be set with/,
    ],
    ['gateways: { a: { port: 1, tls: { cert: c } } }', /tls\.key: is required/],
    [
      'gateways: { a: { port: 1, tls: { mode: magic, cert: c, key: k } } }',
      /tls\.mode: must be one of static, dynamicCa/,
    ],
    [
      'binds: [{ port: 1, listeners: [{}] }]\nui: {}',
      /^2:1 ui: gateways is not set, and there is no gateway named default/,
    ],
    [
      `${GATEWAY}ui: { policies: { timeout: {} } }`,
      /ui\.policies\.timeout: unknown field "timeout"; valid fields: cors, jwt/,
    ],
    [route('retry: { attempts: 3 }'), '3:15 routes[0].policies.retry.codes: is required'],
    [route('retry: { codes: [503], attempts: 256 }'), /attempts: must be at most 255/],
    [route('retry: { codes: [200] }'), /codes\[0\]: must be at least 400/],
    [route('retry: { codes: [503], precondition: "1 +" }'), /precondition: is not a valid expression/],
    [
      route('retry: { codes: [503], condition: "response.cod == 503" }'),
      /condition: is not a valid expression: response has no member cod; did you mean code\? \(line 1, column 10 of the expression\)/,
    ],
    [route('basicAuth: {}'), '3:15 routes[0].policies.basicAuth.htpasswd: is required'],
    [route('basicAuth: { htpasswd: a, htpasswdFile: b }'), /must have at most one of htpasswd, htpasswdFile/],
    [exchanged('{ host: "a:1", path: /a, tokenEndpointPath: /b }'), /must have at most one of path, tokenEndpointPath/],
    [exchanged('{ target: {}, tokenEndpoint: {} }'), /must have at most one of target, tokenEndpoint/],
    [route('backendAuth: { xaa: {} }'), /xaa: is not supported .*; use crossAppAccess/],
    [
      route('', '{ host: "a:1", policies: { inferenceRouting: { endpointPicker: { host: "b:1" } } } }'),
      /inferenceRouting: has an effect only on a backend with a service/,
    ],
    [route('extAuthz: { host: "a:1", redirect: "1" }'), /redirect: is not supported .*; set it in protocol\.http/],
    [route('extAuthz: { host: "a:1", redirec: "1" }'), /unknown field "redirec"; valid fields: host, (?!.*redirect)/],
    [guarded('{ promptInjection: {} }'), /^3:\d+ [^\n]*promptInjection: is not supported .*; use regex[^\n]*$/],
    [route('localRateLimit: [{ limit: 1, unit: seconds }]'), /limit: is not supported .*; use maxTokens/],
    [route('apiKey: { keys: [{ key: a, budgets: [] }] }'), /budgets: is not supported .*; use localRateLimit/],
    [`${GATEWAY}config: { pricing: {} }`, /config\.pricing: is not supported .*; use modelCatalog/],
    [route('delay: { duration: "request." }'), /delay\.duration: is not a valid expression/],
    [route('buffer: { request: { maxBytes: much } }'), /maxBytes: is not a size/],
    [route('requestMirror: { backend: { host: "a:1" }, percentage: 50 }'), /must be at most 1: it is a fraction/],
    [route('requestMirror: { backend: {}, percentage: 1 }'), /requestMirror\.backend: must have exactly one of host/],
    [route('a2a: { x: 1 }'), /a2a\.x: unknown field "x"/],
    [route('', '{ host: "a:1", policies: { health: { eviction: { healthThreshold: 50 } } } }'), /it is a fraction/],
    [route('', '{ host: "a:1", policies: { http: { version: 3 } } }'), /version: must be "1\.1" or "2"/],
    [route('', '{ host: "a:1", policies: { tcp: { keepalives: { time: 1ms } } } }'), /time: must be at least 1s/],
    [route('backendTLS: { cert: /nowhere/c.pem }'), /backendTLS: must have both cert and key, or neither/],
    [route('backendTLS: { keyExchangeGroups: [P-521] }'), /keyExchangeGroups\[0\]: must be one of X25519/],
    [`${GATEWAY}frontendPolicies: { proxy: {}, proxyProtocol: {} }`, /proxyProtocol: is the same field as proxy/],
    [`${GATEWAY}frontendPolicies: { proxy: { version: v3 } }`, /version: must be one of v1, v2, all/],
    [`${GATEWAY}frontendPolicies: { connect: {} }`, /connect\.mode: must be one of deny, route, tunnel/],
    [`${GATEWAY}frontendPolicies: { tracing: {} }`, /tracing: must have exactly one of host, backend/],
    [`${GATEWAY}frontendPolicies: { tracing: { host: "a:1", randomSampling: 2 } }`, /randomSampling: /],
    [`${GATEWAY}frontendPolicies: { accessLog: { otlp: { host: "a:1", path: x } } }`, /otlp\.path: must begin with/],
    [`${GATEWAY}frontendPolicies: { http: { maxBufferSize: 0 } }`, /maxBufferSize: is too small/],
    [`${GATEWAY}frontendPolicies: { http: { maxBufferSize: 4Gi } }`, /maxBufferSize: is too large: at most 4294967295/],
    [`${GATEWAY}frontendPolicies: { accessLog: {}, logging: {} }`, /logging: is the same field as accessLog/],
    [
      `${GATEWAY}frontendPolicies: { tls: { minVersion: TLS_V1_3, maxVersion: TLS_V1_2 } }`,
      /frontendPolicies\.tls: the minimum version is higher than the maximum version/,
    ],
    [route('timeout: { requestTimeout: 5 }'), /requestTimeout: must be a duration with a unit, such as 500ms/],
    [route('timeout: { requestTimeout: soon }'), /requestTimeout: is not a duration/],
    [
      route('authorization: { rules: ["request.method ="] }'),
      /rules\[0\]: is not a valid expression: .*line 1, column/,
    ],
    [route('authorization: { rules: [{ alow: "true" }] }'), /rules\[0\]\.alow: .*did you mean allow/],
    [route('authorization: { rules: [{ allow: "true", deny: "true" }] }'), /exactly one of allow, deny, require/],
    [route('authorization: { rules: [] }'), /rules: must be at least 1 items long/],
    [route('requestHeaderModifier: { set: { "a b": x } }'), /set\["a b"\]: is not a header name/],
    [route('requestHeaderModifier: { set: { a: "x\\r\\ny" } }'), /set\.a: contains control characters/],
    [route('requestRedirect: { status: 200 }'), /status: must be one of 301, 302, 303, 307, 308/],
    [route('urlRewrite: { path: { full: /a, prefix: /b } }'), /path: must have exactly one of full, prefix/],
    [route('urlRewrite: { authority: { port: 1 } }'), /authority\.port: is not supported/],
    [route('directResponse: { status: 199 }'), /status: must be at least 200/],
    [route('localRateLimit: [{ fillInterval: 0s }]'), /fillInterval: must be longer than 0s/],
    [route('localRateLimit: [{}]'), /localRateLimit\[0\]\.fillInterval: is required/],
    [route('localRateLimit: { conditional: [{ condition: a }] }'), /conditional\[0\]\.fillInterval: is required/],
    [route('localRateLimit: { conditional: [] }'), /localRateLimit\.conditional: must be at least 1/],
    [route('jwtAuth: { issuer: i }'), /jwtAuth\.jwks: is required/],
    [route('jwtAuth: { issuer: i, jwks: { url: "ftp://idp" } }'), /jwks\.url: must be a URL with http or https/],
    [route('jwtAuth: { issuer: i, jwks: { url: "https://a:b@idp" } }'), /jwks\.url: must be a URL .* without user/],
    [
      route('jwtAuth: { issuer: i, jwks: { url: "https://idp", file: f } }'),
      /jwks: must be a key set as text, \{file: …\} or \{url/,
    ],
    [
      route(`jwtAuth: { issuer: i, jwks: '{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}' }`),
      /jwks: key 0 is a symmetric key/,
    ],
    [route('jwtAuth: { mode: Strict, issuer: i, jwks: k }'), /mode: must be one of optional, strict, permissive/],
    [route('jwtAuth: { providers: [] }'), /providers: must be at least 1 items long/],
    [
      route('jwtAuth: { issuer: i, jwks: k, location: {} }'),
      /exactly one of header, queryParameter, cookie, expression/,
    ],
    [route('basicAuth: { realm: r }'), /basicAuth\.htpasswd: is required/],
    [route('basicAuth: { htpasswd: h, realm: "a\\nb" }'), /realm: contains control characters/],
    [route('apiKey: { keys: [{}] }'), /keys\[0\]: must have exactly one of key, keyHash/],
    [route('apiKey: { keys: [{ keyHash: "sha256:abc" }] }'), /keyHash: must be sha256: and 64 hex digits/],
    [route('extAuthz: {}'), /extAuthz: must have exactly one of host, backend, service, either here or under target/],
    [route('extAuthz: { host: "a:1", target: { host: "a:1" } }'), /exactly one of host, backend/],
    [route('extAuthz: { backend: nowhere }'), /extAuthz\.backend: there is no backend named nowhere/],
    [route('extAuthz: { backend: a, policies: {} }'), /extAuthz\.policies: must be set on the named backend/],
    [route('extAuthz: { host: "a:1", protocol: {} }'), /protocol: must have exactly one of grpc, http/],
    [route('extAuthz: { host: "a:1", failureMode: { denyWithStatus: 600 } }'), /denyWithStatus: must be at most 599/],
    [route('extAuthz: { host: "a:1", cache: { key: [a], ttl: "1 +" } }'), /ttl: is not a valid expression/],
    [route('remoteRateLimit: { host: "a:1", domain: d }'), /descriptors: is required/],
    [route('remoteRateLimit: { service: s, domain: d, descriptors: [] }'), /service: must be a mapping/],
    [route('ai: { promptCaching: { minTokens: -1 } }'), /ai\.promptCaching\.minTokens: /],
    [route('ai: { routes: { /x: chat } }'), /routes\["\/x"\]: must be one of completions/],
    [route('mcpAuthorization: { rules: ["true"] }'), /has an effect only with an mcp backend/],
    [route('backendAuth: {}'), /backendAuth: sets no credentials/],
    [route('backendAuth: { key: k, passthrough: {} }'), /at most one of key, passthrough/],
    [exchanged('{}'), /oauthTokenExchange: must have exactly one of host, backend/],
    [exchanged('{ host: "a:1", path: token }'), /path: must begin with \//],
    [exchanged('{ host: "a:1", audiences: [] }'), /audiences: must be at least 1 items long/],
    [exchanged('{ host: "a:1", subjectToken: { tokenType: saml } }'), /tokenType: must be accessToken, jwt, idToken/],
    [exchanged('{ host: "a:1", actorToken: { tokenType: jwt } }'), /actorToken\.source: is required/],
    [
      exchanged('{ host: "a:1", actorToken: { source: { cookie: { name: a } }, enforceMayAct: true } }'),
      /actorToken: must have tokenType: jwt with enforceMayAct/,
    ],
    [
      exchanged('{ host: "a:1", requestedTokenType: idJag }'),
      /requestedTokenType: must be one of accessToken, jwt, idToken/,
    ],
    [
      exchanged('{ host: "a:1", grantType: jwtBearer, requestedTokenType: jwt }'),
      /only with the grantType tokenExchange/,
    ],
    [exchanged('{ host: "a:1", additionalParams: { scope: "a" } }'), /additionalParams\.scope: must not be set here/],
    [exchanged('{ host: "a:1", clientAuth: { clientId: a } }'), /clientAuth: must have clientSecret/],
    [exchanged('{ host: "a:1", clientAuth: { clientId: a, method: privateKeyJwt } }'), /must have privateKeyJwt with/],
    [
      exchanged(
        '{ host: "a:1", clientAuth: { clientId: a, method: privateKeyJwt, privateKeyJwt: { signingKey: no, assertionAudience: a } } }',
      ),
      /signingKey: not an unencrypted private key in PEM/,
    ],
    [
      exchanged('{ host: "a:1", policies: { backendAuth: { oauthTokenExchange: { host: "a:1" } } } }'),
      /policies\.backendAuth\.oauthTokenExchange: unknown field/,
    ],
    [route('backendAuth: { crossAppAccess: { audience: a } }'), /crossAppAccess\.identityProvider: is required/],
    [route('', '{ host: localhost }'), /host: must be host:port/],
    [route('', '{ host: "localhost:0" }'), /host: must be host:port/],
    [route('', '{ host: "::1:80" }'), /host: must be host:port/],
    [
      route('', '{}'),
      /backends\[0\]: must have exactly one of host, backend, service, mcp, ai, dynamic, aws, routeGroup, http, invalid/,
    ],
    [
      route('', '{ aws: { agentCore: { agentRuntimeArn: a } } }'),
      /agentRuntimeArn: is not the ARN of an agent runtime/,
    ],
    [route('', '{ host: "a:1", backend: b }'), /must have exactly one of/],
    [route('', '{ internal: forward }'), /backends\[0\]\.internal: is not supported .*; use routeGroup/],
    [
      route('backendTunnel: { proxy: { host: "a:1", policies: { backendAuth: { azure: {} } } } }'),
      /backendTunnel\.proxy\.policies\.backendAuth\.azure: unknown field "azure"; valid fields: key, credentials/,
    ],
    [route('backendTunnel: { proxy: {} }'), /backendTunnel\.proxy: must have exactly one of host, backend/],
    [route('', '{ dynamic: {}, policies: { a2a: {} } }'), /a2a: has an effect only on a backend with a host/],
    [route('a2a: {}', '{ dynamic: {} }'), /a2a: has an effect only on a backend with a host/],
    [route('', '{ backend: absent }'), /there is no backend named absent; declare it in backends/],
    [route('', '{ ai: { name: a, provider: { copilot: {} } } }'), /provider\.copilot: is not supported/],
    [route('', '{ ai: { name: a, provider: { openAI: {} }, pathPrefix: v1 } }'), /pathPrefix: must begin with \//],
    [
      route('', '{ ai: { name: a, provider: { openAI: {} }, pathPrefix: /a, pathOverride: /b } }'),
      /must not be set together with/,
    ],
    [
      route('', '{ ai: { name: a, provider: {} } }'),
      /exactly one of openAI, azure, anthropic, gemini, vertex, bedrock, custom/,
    ],
    [
      route('', '{ ai: { name: a, provider: { custom: { formats: [{ type: messages }] } } } }'),
      /hostOverride: is required/,
    ],
    [route('ai: { promptGuard: {} }'), /promptGuard: must have at least one of request, response/],
    [
      guarded('{}'),
      /request\[0\]: must have exactly one of regex, webhook, bedrockGuardrails, googleModelArmor, openAI/,
    ],
    [guarded('{ webhook: {}, openAIModeration: {} }'), /request\[0\]: must have exactly one of regex, webhook/],
    [
      guarded('{ regex: { rules: [{ builtin: ssn, pattern: a }] } }'),
      /rules\[0\]: must have exactly one of builtin, pat/,
    ],
    [guarded('{ regex: { rules: [{ pattern: "(" }] } }'), /pattern: is not a valid regular expression/],
    [guarded('{ webhook: { failureMode: failOpen } }'), /webhook: must have exactly one of host, backend/],
    [guarded('{ webhook: { host: "a:1", headers: { ":status": "1" } } }'), /":status"\]: must be a header name, :pa/],
    [guarded('{ webhook: { host: "a:1", headers: { a: "jwt." } } }'), /headers\.a: is not a valid expression/],
    [
      guarded('{ bedrockGuardrails: { guardrailIdentifier: a, guardrailVersion: "1", region: a/b } }'),
      /region: must be 1 to 63 lower-case letters, digits and -/,
    ],
    [
      guarded('{ googleModelArmor: { templateId: a, projectId: b, policies: { transformations: {} } } }'),
      /policies\.transformations: unknown field/,
    ],
    [route('ai: { promptGuard: { response: [{ openAIModeration: {} }] } }'), /unknown field "openAIModeration"/],
    [route('', '{ mcp: { targets: [{ name: A, stdio: { cmd: x } }] } }'), /targets\[0\]\.name: must be lower-case/],
    [route('', '{ mcp: { targets: [{ name: a_b, stdio: { cmd: x } }] } }'), /targets\[0\]\.name: must be lower-case/],
    [
      route('', '{ mcp: { targets: [{ name: a }] } }'),
      /targets\[0\]: must have exactly one of mcp, sse, stdio, openapi/,
    ],
    [
      route('', '{ mcp: { targets: [{ name: a, openapi: { schema: "{}", host: "a:1" } }] } }'),
      /targets\[0\]\.openapi\.schema: is not an OpenAPI document of version 3/,
    ],
    [route('', '{ mcp: { targets: [{ name: a, sse: {} }] } }'), /sse\.host: is required/],
    [
      route('', '{ mcp: { targets: [{ name: a, sse: { host: "x:1" }, mcp: { host: "x:1" } }] } }'),
      /must have exactly one of mcp, sse, stdio/,
    ],
    [route('', '{ mcp: { targets: [{ name: a, mcp: { host: "ftp://x" } }] } }'), /must be a URL with http or https/],
    [
      route('', '{ mcp: { targets: [{ name: a, mcp: { host: x } }] } }'),
      /must be a URL, host:port, or a host with port set/,
    ],
    [
      `${GATEWAY}routes: [{ matches: [{ path: { prefix: / } }] }]`,
      /path\.prefix: unknown field .*exact, pathPrefix, regex/,
    ],
    [`${GATEWAY}routes: [{ matches: [{ path: { pathPrefix: a } }] }]`, /must begin with \//],
    [`${GATEWAY}routes: [{ matches: [{ path: { regex: "(" } }] }]`, /not a valid regular expression/],
    [`${GATEWAY}routes: [{ matches: [{ method: get } ] }]`, /method: must be a method in capitals/],
    ['config: { session: { key: abc } }', /session\.key: must be 64 hexadecimal digits/],
    ['config: { logging: { level: loud } }', /logging\.level: /],
    ['config: { adminAddr: here }', /adminAddr: must be host:port/],
    ['config: { hbone: { window: 1 } }', /config\.hbone\.window: unknown field "window"; valid fields: windowSize, /],
  ])('%s', (text, expected) => {
    const found = problems(text)
    if (typeof expected === 'string') expect(found).toContain(expected)
    else expect(found.join('\n')).toMatch(expected)
    expect(load(text).rendered).toBeUndefined()
  })

  it('names several mistakes at once, in different parts', () => {
    const text = `gateways:\n  default:\n    prt: 8080\nroutes:\n  - matchs: []\n  - backends: [{ host: x }]\nmcp: { targets: [] }\n`
    expect(problems(text)).toHaveLength(5)
  })
})

describe('loadStandalone, the whole file', () => {
  it('makes agents of all backends of a route with a2a', () => {
    const { rendered, problems: found } = load(route('a2a: {}', '{ host: "a:1" }, { host: "b:2", weight: 0 }'))
    expect(found).toEqual([])
    expect(rendered?.config.backends).toMatchObject([
      { static: { host: 'a', port: 1 }, a2a: true },
      { static: { host: 'b', port: 2 }, a2a: true },
    ])
    expect(load(route('')).rendered?.config.backends[0]).not.toHaveProperty('a2a')
  })

  it.each([
    ['', '1:1 : the file is empty'],
    ['# nothing', '1:1 : the file is empty'],
    ['{}', '1:1 : no port is open: set gateways, llm, mcp or binds'],
    ['[]', '1:1 : must be a mapping, not a list'],
    [`${GATEWAY}---\n${GATEWAY}`, '3:1 : a standalone file must contain exactly one YAML document'],
    ['a: [', /not valid YAML/],
    [`${GATEWAY}${GATEWAY}`, /not valid YAML: Map keys must be unique/],
  ])('%j', (text, expected) => {
    const [first = ''] = problems(text)
    if (typeof expected === 'string') expect(first).toBe(expected)
    else expect(first).toMatch(expected)
  })

  it('reports positions of the file, not of the expanded text', () => {
    const { problems: found } = load('gateways: { a: { port: ${PORT}, x: 1 } }', { PORT: '8080' })
    expect(found).toMatchObject([{ line: 1, column: 33, path: 'gateways.a.x' }])
  })

  it('keeps values of variables out of messages', () => {
    const secret = 'hidden-value'
    for (const text of [
      'a: $KEY',
      'gateways: { a: { port: $KEY } }',
      route('backendAuth: { kye: $KEY }'),
      'a: [ $KEY }',
    ]) {
      expect(JSON.stringify(load(text, { KEY: secret }).problems)).not.toContain(secret)
    }
  })
})

describe('loadStandalone, a file created by the operator', () => {
  const generated = (text: string): LoadedStandalone =>
    loadStandalone({ path: '/config/config.yaml', text, environment: { SESSION_KEY: 'hidden' }, isGenerated: true })

  it('expands no variable', () => {
    const { rendered } = generated(`${GATEWAY}routes:
- policies: { directResponse: { status: 200, body: '$SESSION_KEY \${SESSION_KEY} $$ \${' } }
`)
    expect(JSON.stringify(rendered)).toContain('$SESSION_KEY ${SESSION_KEY} $$ ${')
  })

  it('need not open a port', () => {
    expect(generated('config: {}\n').problems).toEqual([])
    expect(load('config: {}\n').problems).toHaveLength(1)
  })

  it('has its own positions', () => {
    expect(generated('x: $A\nrotes: []\n').problems.map(({ line, path }) => `${line} ${path}`)).toContain('2 rotes')
  })
})

describe('loadStandalone, names and ports', () => {
  it.each([
    ['gateways: { a: { port: 1 }, b: { port: 1 } }', '1:34 gateways.b.port: port 1 is already used by gateways.a.port'],
    [
      'gateways: { a: { port: 3000 } }\nmcp: { targets: [{ name: a, stdio: { cmd: x } }] }',
      /mcp\.port: port 3000 is already used/,
    ],
    ['gateways: { a: { port: 1 } }\nbinds: [{ port: 1, listeners: [{}] }]', /binds\[0\]\.port: port 1 is already used/],
    [
      `${GATEWAY}mcp: { port: 1, gateways: default, targets: [{ name: a, stdio: { cmd: x } }] }`,
      /mcp\.port: must not be set/,
    ],
    [
      'gateways: { a: { port: 1, cors: {}, listeners: [{}] } }',
      /gateways\.a\.cors: must be set on each listener if listeners is set/,
    ],
    ['gateways: { a: { port: 1, listeners: [{ name: x }, { name: x, hostname: y }] } }', /the name x is already used/],
    [
      'gateways: { a: { port: 1, listeners: [{}, {}] } }',
      /listeners\[1\]: gateways\.a\.listeners\[0\] already has all host names/,
    ],
    [
      'gateways: { a: { port: 1, listeners: [{ hostname: h }, { hostname: H }] } }',
      /hostname: .* already has the host name H/,
    ],
    [
      'gateways: { a: { port: 1 } }\nroutes: [{}]',
      /routes\[0\]: gateways is not set, and there is no gateway named default/,
    ],
    ['gateways: { a: { port: 1, protocol: HTTPS } }', /gateways\.a: protocol HTTPS needs tls with cert and key/],
    [
      'gateways: { a: { port: 1, tls: { cert: /nowhere/c, key: /nowhere/k } } }',
      /tls: must not be set with protocol HTTP/,
    ],
    [
      'gateways: { a: { port: 1, protocol: HTTPS, tls: { cert: /nowhere/c, key: /nowhere/k } } }',
      /tls\.cert: \/nowhere\/c cannot be read: it does not exist/,
    ],
    [
      'gateways: { a: { port: 1, listeners: [{ protocol: TLS, hostname: a }, { hostname: b }] } }',
      /listeners\[1\]: plain HTTP, TLS and TCP cannot share port 1/,
    ],
    [
      'gateways: { a: { port: 1, listeners: [{ protocol: TCP }, { protocol: TCP, hostname: b }] } }',
      /listeners\[1\]: port 1 can have one listener only/,
    ],
    [
      'gateways: { a: { port: 1, protocol: TCP, authorization: { rules: ["true"] } } }',
      /gateways\.a\.authorization: has no effect with protocol TCP/,
    ],
    [
      `gateways: { default: { port: 1, protocol: TCP } }\nroutes: [{ backends: [${BACKEND}] }]`,
      /routes\[0\]: its listeners forward plain TCP; use tcpRoutes/,
    ],
    [`${GATEWAY}tcpRoutes: [{ backends: [${BACKEND}] }]`, /tcpRoutes\[0\]: its listeners serve HTTP; use routes/],
    [
      `binds: [{ port: 1, listeners: [{ tcpRoutes: [{ backends: [${BACKEND}] }] }] }]`,
      /tcpRoutes: the listener serves HTTP; use routes/,
    ],
    [
      `binds: [{ port: 1, listeners: [{ protocol: TCP, routes: [{ backends: [${BACKEND}] }] }] }]`,
      /routes: the listener forwards plain TCP; use tcpRoutes/,
    ],
    [
      `gateways: { default: { port: 1, protocol: TCP } }\ntcpRoutes: [{ backends: [{}] }]`,
      /tcpRoutes\[0\]\.backends\[0\]: must have exactly one of host, backend/,
    ],
    [
      'gateways: { edge: { port: 1 } }\nroutes: [{ gateways: egde }]',
      /routes\[0\]\.gateways: there is no gateway egde; did you mean edge/,
    ],
    [
      'gateways: { edge: { port: 1 } }\nroutes: [{ gateways: [edge, edge/x] }]',
      /routes\[0\]\.gateways\[1\]: gateway edge has no listener named x; write edge/,
    ],
    [
      `${GATEWAY}routes: [{ name: a }, { name: a }]`,
      /routes\[1\]\.name: route default\/a is already defined at routes\[0\]/,
    ],
    [`${GATEWAY}routes: [{ name: a, ruleName: x }, { name: a }]`, /set a ruleName on each/],
    [`${GATEWAY}routes: [{}, { name: route0 }]`, /route default\/route0 is already defined at/],
    [
      `${GATEWAY}backends: [{ name: a, host: "a:1" }, { name: a, host: "a:2" }]`,
      /backends\[1\]\.name: the name is already used by backends\[0\]/,
    ],
    [`${GATEWAY}backends: [{ name: a }]`, /backends\[0\]: must have exactly one of host, mcp, ai/],
    [
      route('', '{ mcp: { targets: [{ name: a, stdio: { cmd: x } }, { name: a, stdio: { cmd: y } }] } }'),
      /targets\[1\]\.name: the name is already used/,
    ],
  ])('%s', (text, expected) => {
    const found = problems(text).join('\n')
    if (typeof expected === 'string') expect(found).toBe(expected)
    else expect(found).toMatch(expected)
    expect(load(text).rendered).toBeUndefined()
  })

  it('allows a route name twice with rule names', () => {
    const text = `${GATEWAY}routes: [{ name: a, ruleName: x, backends: [${BACKEND}] }, { name: a, ruleName: y, backends: [${BACKEND}] }]`
    expect(problems(text)).toEqual([])
  })
})

describe('loadStandalone, unsupported security policies', () => {
  const traffic = (text: string) => load(text).rendered?.config.routes[0]?.inlinePolicies?.deny?.field

  it.each(DENYING_TRAFFIC)('rejects requests of a route with %s, and warns', (name) => {
    for (const value of ['{}', '{ anything: [1] }', '']) {
      const text = route(`${name}: ${value}`)
      expect(traffic(text)).toBe(`routes[0].policies.${name}`)
      expect(load(text).problems).toMatchObject([{ path: `routes[0].policies.${name}`, severity: 'warning' }])
    }
  })

  it.each(DENYING_GATEWAY)('rejects requests of a listener with %s before routing', (name) => {
    const { rendered } = load(`gateways: { a: { port: 1, ${name}: {} } }`)
    expect(rendered?.config.policies).toMatchObject([
      { phase: 'PreRouting', policy: { traffic: { deny: { field: `gateways.a.${name}` } } } },
    ])
  })

  it.each(DENYING_AUTH.map((name) => `backendAuth.${name}`))('refuses requests to a backend with %s', (path) => {
    const [first = '', second] = path.split('.')
    const policies = second === undefined ? `${first}: {}` : `${first}: { ${second}: {} }`
    const { rendered } = load(route('', `{ host: "a:1", policies: { ${policies} } }`))
    const deny = rendered?.config.backends[0]?.inlinePolicies?.deny
    expect(deny?.field).toBe(`routes[0].backends[0].policies.${path}`)
  })

  it('warns about every one of several, and rejects once', () => {
    const backend = '{ host: "a:1", policies: { backendAuth: { copilot: {} } } }'
    const text = route('oidc: {}', backend)
    const { routes = [], backends = [] } = load(text).rendered?.config ?? {}
    expect(routes[0]?.inlinePolicies?.deny?.field).toBe('routes[0].policies.oidc')
    expect(backends[0]?.inlinePolicies?.deny?.field).toBe('routes[0].backends[0].policies.backendAuth.copilot')
    expect(problems(text)).toHaveLength(2)
  })

  it('calls one service for an inline backend of a route on two listeners', () => {
    const text = `gateways: { default: { port: 1, listeners: [{ hostname: a }, { hostname: b }] } }
routes: [{ backends: [{ host: "a:1", policies: { extAuthz: { host: "b:1" } } }] }]`
    const keys = load(text).rendered?.config.backends.map(({ key }) => key) ?? []
    expect(keys).toHaveLength(3)
    expect(new Set(keys)).toContain('/service/routes[0].backends[0].policies.extAuthz')
  })

  it('accepts only backends with a host as services', () => {
    const model = 'backends: [{ name: m, ai: { name: p, provider: { openAI: {} } } }]'
    expect(problems(`${route('extAuthz: { backend: m }')}${model}`)).toEqual([
      expect.stringContaining('extAuthz.backend: must be a backend with a host; m is of kind ai'),
    ])
  })
})

describe('loadStandalone, files and settings', () => {
  it('reads keys and certificates relative to the file, and lists them', () => {
    const folder = mkdtempSync(join(tmpdir(), 'gw-standalone-'))
    try {
      writeFileSync(join(folder, 'key.txt'), 'the-key\n')
      writeFileSync(join(folder, 'ca.pem'), '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n')
      const text = route('backendAuth: { key: { file: key.txt } }, backendTLS: { root: ca.pem }')
      const loaded = loadStandalone({ path: join(folder, 'f.yaml'), text, environment: {} })
      expect(loaded.files).toEqual([join(folder, 'ca.pem'), join(folder, 'key.txt')])
      expect(loaded.rendered?.secrets.secrets).toEqual([
        { key: 'standalone/routes[0].policies.backendAuth.key', value: 'the-key' },
      ])
      expect(JSON.stringify(loaded.rendered?.config)).not.toContain('the-key')
      writeFileSync(join(folder, 'ca.pem'), 'no certificate')
      const broken = loadStandalone({ path: join(folder, 'f.yaml'), text, environment: {} })
      expect(broken.problems).toMatchObject([{ message: 'the file contains no PEM certificate' }])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('names a missing file, and still lists it', () => {
    const loaded = load(route('backendAuth: { key: { file: absent } }'))
    expect(loaded.problems).toMatchObject([
      { path: 'routes[0].policies.backendAuth.key.file', message: '/nowhere/absent cannot be read: it does not exist' },
    ])
    expect(loaded.files).toEqual(['/nowhere/absent'])
  })

  it('reads the sources of the model catalog from the file and from other files', () => {
    const folder = mkdtempSync(join(tmpdir(), 'gw-standalone-'))
    try {
      const path = join(folder, 'f.yaml')
      writeFileSync(
        join(folder, 'prices.json'),
        '{"providers": {"openai": {"models": {"m": {"rates": {"input": "2"}}}}}}',
      )
      const inline = '{ inline: { providers: { anthropic: { models: { n: { tags: [x] } } } } } }'
      const text = `config: { modelCatalog: [{ file: prices.json }, ${inline}] }\n${GATEWAY}`
      const loaded = loadStandalone({ path, text, environment: {} })
      expect(loaded.problems).toEqual([])
      expect(loaded.files).toEqual([join(folder, 'prices.json')])
      const model = { rates: {}, tiers: undefined, tags: [] }
      expect(loaded.modelCatalog).toEqual([
        {
          name: 'prices.json',
          catalog: new Map([['openai', new Map([['m', { ...model, rates: { input: 2_000_000n } }]])]]),
        },
        {
          name: 'config.modelCatalog[1].inline',
          catalog: new Map([['anthropic', new Map([['n', { ...model, tags: ['x'] }]])]]),
        },
      ])
      writeFileSync(join(folder, 'prices.json'), '{"providers": {"openai": {"models": {"m": {"rates": {"in": "2"}}}}}}')
      const broken = loadStandalone({ path, text, environment: {} })
      expect(broken.rendered).toBeUndefined()
      expect(broken.problems).toMatchObject([
        {
          path: 'config.modelCatalog[0].file',
          message: expect.stringMatching(/^prices\.json: providers\.openai\.models\.m\.rates\.in: unknown field "in"/),
        },
      ])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it.each([
    ['{}', 'config.modelCatalog[0]', 'must be {file: …} or {inline: …}'],
    ['{ file: a, inline: { providers: {} } }', 'config.modelCatalog[0]', 'must be {file: …} or {inline: …}'],
    [
      '{ inline: { providers: { openai: { models: { m: { rates: { input: 2 } } } } } } }',
      'config.modelCatalog[0].inline.providers.openai.models.m.rates.input',
      'must be a string, not a number',
    ],
  ])('rejects the source %s of a model catalog', (source, path, message) => {
    expect(load(`config: { modelCatalog: [${source}] }\n${GATEWAY}`).problems).toMatchObject([{ path, message }])
  })

  it('returns the settings of config', () => {
    const config = `config: { adminAddr: "[::1]:0", workerThreads: 3, dns: { lookupFamily: V4Only }, session: { key: ${'0f'.repeat(32)} }, logging: { level: "info,mcp=debug", format: json } }\n`
    const { settings, rendered } = load(config + GATEWAY)
    expect(settings).toEqual({
      admin: { host: '::1', port: 0 },
      stats: undefined,
      readiness: undefined,
      workers: 3,
      logLevel: 'info,mcp=debug',
      logFormat: 'json',
      dnsLookupFamily: 'V4_ONLY',
      sessionKeys: [new Uint8Array(32).fill(15)],
      environment: {},
    })
    expect(JSON.stringify(rendered)).not.toContain('0f0f')
  })

  it('returns the defaults of connections to backends, those of the file and those of the specification', () => {
    const backend = 'keepalives: { enabled: false, retries: 3 }, connectTimeout: 100ms, poolMaxSize: 0'
    const { settings, problems } = load(`config: { backend: { ${backend} } }\n${GATEWAY}`)
    expect(problems).toEqual([])
    expect(settings?.connections).toEqual({
      connectTimeoutMs: 100,
      keepalive: { enabled: false, timeMs: 180_000, intervalMs: 180_000, retries: 3 },
      idleTimeoutMs: 90_000,
      idleMax: 0,
    })
  })

  it.each([
    ['', ['gateway/default/llm:request 8080', 'gateway/default/mcp:default 8080']],
    ['port: 9000, ', ['llm:request 9000', 'gateway/default/mcp:default 8080']],
    ['gateways: other, ', ['gateway/other/llm:request 8081', 'gateway/default/mcp:default 8080']],
  ])('serves llm with %j and mcp without a place on the gateway default', (place, expected) => {
    const models = 'models: [{ name: a, provider: openai, params: { apiKey: k } }]'
    const mcp = 'mcp: { targets: [{ name: a, mcp: { host: "http://127.0.0.1:1/mcp" } }] }'
    const gateways = 'gateways: { default: { port: 8080 }, other: { port: 8081 } }'
    const { rendered, problems } = load(`${gateways}\nllm: { ${place}${models} }\n${mcp}\n`)
    expect(problems).toEqual([])
    const { binds = [], listeners = [], routes = [] } = rendered?.config ?? {}
    const portOf = (listenerKey: string | undefined): number | undefined => {
      const listener = listeners.find(({ key }) => key === listenerKey)
      return binds.find(({ key }) => key === listener?.bindKey)?.port
    }
    expect(new Set(routes.map(({ key, listenerKey }) => `${key} ${portOf(listenerKey)}`))).toEqual(new Set(expected))
  })

  it('keeps the own ports of llm and mcp beside a gateway default that serves no HTTP', () => {
    const models = 'models: [{ name: a, provider: openai, params: { apiKey: k } }]'
    const tcp = 'gateways: { default: { port: 8080, protocol: TCP } }\ntcpRoutes: [{ backends: [{ host: "a:1" }] }]'
    const { rendered, problems } = load(`${tcp}\nllm: { ${models} }\n`)
    expect(problems).toEqual([])
    expect(rendered?.config.binds.map(({ port }) => port)).toEqual([8080, 4000])
  })

  it('returns the limits of tunnels as variables', () => {
    const sizes = 'windowSize: 65535, connectionWindowSize: 256Mi, frameSize: 16Ki'
    const pool = 'poolMaxStreamsPerConn: 1, poolUnusedReleaseTimeout: 24h'
    const { settings, problems } = load(`config: { hbone: { ${sizes}, ${pool} } }\n${GATEWAY}`)
    expect(problems).toEqual([])
    expect(settings?.environment).toEqual({
      HTTP2_STREAM_WINDOW_SIZE: '65535',
      HTTP2_CONNECTION_WINDOW_SIZE: '268435456',
      HTTP2_FRAME_SIZE: '16384',
      POOL_MAX_STREAMS_PER_CONNECTION: '1',
      POOL_UNUSED_RELEASE_TIMEOUT: '86400000ms',
    })
  })

  it.each([
    ['backend: { connectTimeout: 99ms }', 'config.backend.connectTimeout', 'must be at least 100ms'],
    ['backend: { poolIdleTimeout: 999ms }', 'config.backend.poolIdleTimeout', 'must be at least 1s'],
    ['backend: { poolMaxSize: -1 }', 'config.backend.poolMaxSize', 'must be at least 0'],
    ['backend: { poolMaxSize: 65537 }', 'config.backend.poolMaxSize', 'must be at most 65536'],
    ['backend: { keepalives: { time: 999ms } }', 'config.backend.keepalives.time', 'must be at least 1s'],
    [
      'backend: { keepalives: { enabled: 0 } }',
      'config.backend.keepalives.enabled',
      'must be true or false, not a number',
    ],
    ['hbone: { windowSize: 65534 }', 'config.hbone.windowSize', 'must be from 65535 to 67108864 bytes'],
    ['hbone: { frameSize: 16Mi }', 'config.hbone.frameSize', 'must be from 16384 to 16777215 bytes'],
    ['hbone: { poolMaxStreamsPerConn: 1001 }', 'config.hbone.poolMaxStreamsPerConn', 'must be at most 1000'],
    ['hbone: { poolUnusedReleaseTimeout: 0s }', 'config.hbone.poolUnusedReleaseTimeout', 'must be from 1s to 24h'],
  ])('rejects config with %s', (field, path, message) => {
    expect(load(`config: { ${field} }\n${GATEWAY}`).problems).toMatchObject([{ path, message }])
  })

  it('returns the settings of config that are variables, as such', () => {
    const times = 'connectionTerminationDeadline: 1m, connectionMinTerminationDeadline: 500ms'
    const place = 'network: net-1, clusterId: east, namespace: shop, gateway: web'
    const mesh =
      'caAddress: "https://ca.test", trustDomain: a.test, additionalTrustDomains: [b.test, c.test], skipValidateTrustDomain: true'
    const { settings, problems } = load(`config: { ${times}, ${place}, ${mesh}, serviceAccount: gw }\n${GATEWAY}`)
    expect(problems).toEqual([])
    expect(settings?.environment).toEqual({
      CONNECTION_TERMINATION_DEADLINE: '60000ms',
      CONNECTION_MIN_TERMINATION_DEADLINE: '500ms',
      NETWORK: 'net-1',
      CLUSTER_ID: 'east',
      NAMESPACE: 'shop',
      GATEWAY: 'web',
      CA_ADDRESS: 'https://ca.test',
      TRUST_DOMAIN: 'a.test',
      ADDITIONAL_TRUST_DOMAINS: 'b.test,c.test',
      SKIP_VALIDATE_TRUST_DOMAIN: 'true',
      SERVICE_ACCOUNT: 'gw',
    })
  })

  it.each([
    ['caAddress: "http://ca.test"', 'config.caAddress', 'must be https://host or https://host:port'],
    ['trustDomain: "a b"', 'config.trustDomain', 'must be the name of a trust domain, such as cluster.local'],
    [
      'connectionTerminationDeadline: soon',
      'config.connectionTerminationDeadline',
      expect.stringContaining('duration'),
    ],
  ])('rejects %s', (field, path, message) => {
    expect(load(`config: { ${field} }\n${GATEWAY}`).problems).toMatchObject([{ path, message }])
  })
})

describe('loadStandalone, the web UI on a gateway', () => {
  const OPEN =
    '2:1 ui: every client of the gateway can read it: set basicAuth, jwtAuth, apiKey, extAuthz or authorization'

  it.each([
    ['{}', [OPEN]],
    ['{ policies: { cors: { allowOrigins: ["*"] } } }', [OPEN]],
    ['{ policies: { authorization: { rules: ["source.address == \'10.0.0.1\'"] } } }', []],
    ['{ policies: { apiKey: { keys: [{ key: a }] } } }', []],
  ])('warns if every client can read it: %s', (ui, expected) => {
    expect(problems(`${GATEWAY}ui: ${ui}`)).toEqual(expected)
  })

  it('knows the policies of the gateway', () => {
    expect(problems('gateways: { default: { port: 8080, apiKey: { keys: [{ key: a }] } } }\nui: {}')).toEqual([])
  })

  it('leads to no path that changes the proxy, and takes the root only if no route has it', () => {
    const matchesOf = (text: string): unknown[] =>
      load(text).rendered?.config.routes.findLast(({ name }) => name.name === 'ui:default')?.matches ?? []
    const alone = matchesOf(`${GATEWAY}ui: {}`)
    expect(alone).toContainEqual({ path: { exact: '/' }, method: 'GET' })
    expect(alone.filter((match) => !JSON.stringify(match).includes('"GET"'))).toEqual([
      { path: { exact: '/debug/cel' }, method: 'POST' },
      { path: { exact: '/debug/mcp_access' }, method: 'POST' },
    ])
    expect(matchesOf(`${GATEWAY}routes: [{ backends: [${BACKEND}] }]\nui: {}`)).not.toContainEqual({
      path: { exact: '/' },
      method: 'GET',
    })
  })
})
