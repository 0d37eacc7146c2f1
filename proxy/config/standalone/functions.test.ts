// Functions that a file declares: all its expressions see them, and mistakes have a place.
import { describe, expect, it } from 'vitest'
import { fieldProblems } from './issues.ts'
import { loadStandalone, type LoadedStandalone } from './load.ts'

const FUNCTIONS = `
config:
  customFunctions: |
    tenant() { request.headers["x-tenant"] }
    this.isOneOf(names...) { this in names }
    status() { response.code }
`
const RULE = 'tenant().isOneOf("a", "b")'
const ALL = `${FUNCTIONS}  logging: { filter: 'status() > 399', fields: { add: { tenant: tenant() } } }
  tracing: { otlpEndpoint: "http://127.0.0.1:4317", fields: { add: { tenant: tenant() } }, randomSampling: '${RULE}' }
  metrics: { fields: { add: { tenant: tenant() } } }
gateways: { default: { port: 8080 } }
policies:
- name: { name: all, namespace: default }
  target: { gateway: { gatewayName: default, gatewayNamespace: default } }
  policy: { transformations: { request: { set: { x-tenant: tenant() } } } }
routes:
- policies:
    authorization: { rules: ['${RULE}', { deny: 'tenant() != "a"' }] }
    extAuthz: { host: "127.0.0.1:1", protocol: { grpc: { metadata: { tenant: tenant() } } } }
    remoteRateLimit:
      host: "127.0.0.1:1"
      domain: d
      descriptors: [{ entries: [{ key: tenant, value: tenant() }] }]
    transformations: { response: { body: 'string(status())' } }
    retry: { codes: [503], condition: 'status() == 503' }
  backends:
  - mcp: { targets: [{ name: a, mcp: { host: "127.0.0.1:1" } }] }
    policies: { mcpAuthorization: { rules: ['${RULE}'] } }
llm:
  port: 4000
  models: [{ name: m, provider: openAI, transformation: { user: tenant() } }]
`

function load(text: string): LoadedStandalone {
  return loadStandalone({ path: '/nowhere/f.yaml', text, environment: {} })
}

function problems(text: string): string[] {
  return load(text).problems.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`)
}

const declaring = (text: string): string =>
  `gateways: { default: { port: 8080 } }\nconfig:\n  customFunctions: ${JSON.stringify(text)}\n`

describe('config.customFunctions', () => {
  it('is seen by every expression of the file', () => {
    const { rendered, problems: found } = load(ALL)
    expect(found.filter(({ severity }) => severity === 'error')).toEqual([])
    expect(rendered?.config.customFunctions).toContain('this.isOneOf')
  })

  it('reads what its functions read: warnings and moments are those of the call', () => {
    const warnings = load(ALL).problems.map(({ path }) => path)
    expect(warnings).toEqual(['routes[0].policies.authorization.rules[1].deny'])
    const early = ALL.replace(`['${RULE}', {`, `['status() == 200', {`)
    expect(problems(early)).toContainEqual(
      expect.stringMatching(/rules\[0\]: is not a valid expression: .*response.* not available/),
    )
  })

  it('ends with the file', () => {
    load(ALL)
    const [found] = problems(ALL.replace(FUNCTIONS, 'config:\n'))
    expect(found).toContain('undeclared function')
    expect(fieldProblems({ routes: [{ policies: { authorization: { rules: ['tenant()'] } } }] })).toHaveLength(1)
  })

  it.each([
    ['a() { b() }\nb() { a() }', 'a: function a calls itself (line 1, column 1 of the text)'],
    ['a() { 1 }\n\na(x) { x }', 'function a is declared more than once (line 3, column 1 of the text)'],
    ['# sizes\nsize(x) { 1 }', 'size is the name of a built-in function (line 2, column 1 of the text)'],
    ['a() { 1', 'this brace is not closed (line 1, column 5 of the text)'],
  ])('rejects %j', (text, message) => {
    expect(problems(declaring(text))).toEqual([`3:3 config.customFunctions: is not valid: ${message}`])
  })

  it('rejects a text that is too long', () => {
    expect(problems(declaring(' '.repeat(16_385)))).toEqual([expect.stringContaining('longer than 16384 characters')])
  })

  it('reports only the mistake in the functions, not each call of them', () => {
    const broken = ALL.replace('tenant() {', 'tenant( {')
    expect(problems(broken)).toEqual([expect.stringMatching(/^3:3 config\.customFunctions: is not valid: expected/)])
  })
})
