import { describe, expect, it } from 'vitest'
import type { components } from '#api/admin/types.gen.ts'
import type { Authorization, Policy, RenderedConfig } from '#api/ir/types.gen.ts'
import { configFor } from '../main.testing.ts'
import { compileRules } from '../policy/auth/authorization.ts'
import { environmentOf, exchangeOf } from '../policy/exchange.testing.ts'
import { type AccessProblem, mcpAccess } from './mcp-access.ts'

type Access = components['schemas']['McpAccess']
type Question = components['schemas']['McpAccessQuestion']

const BACKEND = {
  mcp: {
    targets: ['weather', 'files'].map((name) => ({ name, ref: { backend: `ns/${name}` as const } })),
    sessionRouting: 'Stateful',
    prefixMode: 'Conditional',
    failureMode: 'FailClosed',
  },
} as const
const TOOLS = [
  { server: 'weather', name: 'forecast' },
  { server: 'files', name: 'delete' },
]

function policyOf(mcpAuthorization: Authorization, index: number, target: Policy['target']): Policy {
  const name = `p${index}`
  return {
    key: `backend/ns/${name}:mcp-authorization`,
    name: { kind: 'GwPolicy', namespace: 'ns', name },
    target,
    policy: { backend: { mcpAuthorization } },
  }
}

const ON_GATEWAY = { gateway: { namespace: 'ns', name: 'gw' } }

function configWith(rules: readonly Authorization[], more: readonly Policy[] = []): RenderedConfig {
  return configFor(8080, {
    routes: [
      { name: 'tools', prefix: '/mcp', backend: BACKEND },
      { name: 'web', prefix: '/', backend: { static: { host: '127.0.0.1', port: 1 } } },
    ],
    policies: [...rules.map((rule, index) => policyOf(rule, index, ON_GATEWAY)), ...more],
  })
}

const ask = (config: RenderedConfig, parts: Partial<Question> = {}): Access | AccessProblem =>
  mcpAccess(config, { backend: { namespace: 'ns', name: 'tools' }, variables: {}, tools: TOOLS, ...parts })

function accessOf(config: RenderedConfig, parts: Partial<Question> = {}): Access {
  const access = ask(config, parts)
  if ('problem' in access) throw new Error(access.problem)
  return access
}

const rule = (action: Authorization['action'], ...matchExpressions: string[]): Authorization => ({
  action,
  matchExpressions,
})

describe('mcpAccess', () => {
  it('decides for each tool by the claims that are given, and names the rule with its policy', () => {
    const config = configWith([
      rule('Allow', '"dev" in jwt.roles', 'mcp.tool.target == "weather"'),
      rule('Deny', 'mcp.tool.name == "delete"', 'source.address.startsWith("10.")'),
    ])
    const variables = { jwt: { sub: 'alice', roles: ['dev'] }, source: { address: '10.0.0.7' } }
    const access = accessOf(config, { variables })
    expect(access.route).toBe('ns/tools.00.http')
    // The newest policy of a level comes first.
    expect(access.rules.map(({ action, source }) => [action, source])).toEqual([
      ['Deny', { kind: 'policy', key: 'backend/ns/p1:mcp-authorization' }],
      ['Allow', { kind: 'policy', key: 'backend/ns/p0:mcp-authorization' }],
    ])
    expect(access.tools).toEqual([
      { server: 'weather', name: 'forecast', isAllowed: true, decidedBy: 1, problems: [] },
      { server: 'files', name: 'delete', isAllowed: false, decidedBy: 0, problems: [] },
    ])
    const outside = accessOf(config, { variables: { ...variables, source: { address: '192.0.2.1' } } })
    expect(outside.tools[1]).toMatchObject({ isAllowed: false, decidedBy: null })
  })

  it('reports which value an expression misses', () => {
    const config = configWith([
      rule('Require', 'jwt.sub == "alice"'),
      rule('Allow', 'request.headers["x-role"] == "admin"'),
    ])
    const [tool] = accessOf(config, { variables: { jwt: { sub: 'alice' } } }).tools
    expect(tool).toMatchObject({ isAllowed: false, decidedBy: null })
    expect(tool?.problems).toEqual([{ rule: 0, message: 'no such key: x-role' }])
    const variables = { jwt: { sub: 'alice' }, request: { headers: { 'X-Role': 'admin' } } }
    expect(accessOf(config, { variables }).tools[0]).toMatchObject({ isAllowed: true, problems: [] })
  })

  it('allows all tools without rules, and none if a policy cannot be enforced', () => {
    expect(accessOf(configWith([])).tools.map(({ isAllowed }) => isAllowed)).toEqual([true, true])
    const broken: Policy = {
      ...policyOf(rule('Allow', 'true'), 7, ON_GATEWAY),
      policy: { backend: { deny: { field: 'mcp.authorization', message: 'invalid' } } },
    }
    const { deny, tools } = accessOf(configWith([rule('Allow', 'true')], [broken]))
    expect(deny).toEqual({ message: 'mcp.authorization: invalid', sources: [{ kind: 'policy', key: broken.key }] })
    expect(tools.map(({ isAllowed, decidedBy }) => [isAllowed, decidedBy])).toEqual([
      [false, null],
      [false, null],
    ])
  })

  it('decides as requests do, for all combinations of rules', () => {
    const expressions = ['1 == 1', '1 == 2', 'request.headers["absent"] == "x"', '1 ==', '1']
    const kinds = (['Allow', 'Deny', 'Require'] as const).flatMap((action) =>
      expressions.map((source) => rule(action, source)),
    )
    const lists = [...kinds.map((one) => [one]), ...kinds.flatMap((one) => kinds.map((other) => [one, other]))]
    const different = lists.filter((rules) => {
      const expected = compileRules(rules, environmentOf())(exchangeOf())
      return accessOf(configWith(rules)).tools[0]?.isAllowed !== expected
    })
    expect(lists.length).toBe(240)
    expect(different).toEqual([])
  })

  it('stops expressions that take too many steps, and then denies', () => {
    const list = `[${'0,'.repeat(2000)}0]`
    const slow = `${list}.all(a, ${list}.all(b, a == b))`
    const { tools } = accessOf(configWith([rule('Deny', slow)]))
    expect(tools.map(({ isAllowed, problems }) => [isAllowed, problems.length])).toEqual([
      [false, 1],
      [false, 1],
    ])
  })

  it.each<[string, Partial<Question>]>([
    ['backend: the configuration has no such MCP backend', { backend: { namespace: 'ns', name: 'web' } }],
    ['backend: the configuration has no such MCP backend', { backend: { namespace: 'x', name: 'tools' } }],
    ['route: no such rule leads to the backend', { route: 'ns/web.00.web' }],
    ['tools: at most 50 with so many rules', { tools: Array.from({ length: 51 }, () => ({ server: 'a', name: 'b' })) }],
  ])('rejects the question: %s', (problem, parts) => {
    const rules = Array.from({ length: parts.tools === undefined ? 1 : 1000 }, () => rule('Deny', 'false'))
    expect(ask(configWith(rules), parts)).toEqual({ problem })
  })
})
