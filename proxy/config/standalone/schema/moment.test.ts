// Expressions of a standalone file that read values too early: rejected in each place, accepted if the value exists.
import { describe, expect, it } from 'vitest'
import { loadStandalone } from '../load.ts'

const GATEWAY = 'gateways: { default: { port: 8080 } }\n'
const HOST = 'host: "127.0.0.1:80"'
const RATE = (more: string): string => route(`remoteRateLimit: { ${HOST}, domain: d, descriptors: [{ ${more} }] }`)

function problems(text: string): string[] {
  const { problems, rendered } = loadStandalone({ path: '/nowhere/f.yaml', text, environment: {} })
  expect(rendered === undefined).toBe(problems.length > 0)
  return problems.map(({ path, message }) => `${path}: ${message}`)
}

function route(policies: string, backend = ''): string {
  return `${GATEWAY}routes: [{ name: r, policies: { ${policies} }, backends: [{ ${HOST}, policies: { ${backend} } }] }]\n`
}

function listener(policies: string): string {
  return `gateways: { default: { port: 8080, ${policies} } }\n`
}

function frontend(policies: string): string {
  return `${listener('')}frontendPolicies: { ${policies} }\n`
}

function targeted(target: string, policy: string): string {
  return `${route('')}policies: [{ name: { name: p }, target: { ${target} }, ${policy} }]\n`
}

const SET = (side: string, expression: string): string =>
  `transformations: { ${side}: { set: { a: '${expression}' } } }`
const NAME = 'proxy.route.name'
const CODE = 'string(response.code)'

describe('a file is rejected', () => {
  it.each([
    ['a listener: no route', listener(`authorization: { rules: ['${NAME} == "r"'] }`), /before a route is selected/],
    ['a listener of a bind', `binds: [{ port: 1, listeners: [{ policies: { ${SET('request', NAME)} } }] }]`, /a route/],
    [
      'a route: no response',
      route('authorization: { rules: [{ deny: "response.code == 200" }] }'),
      /before the request is sent/,
    ],
    [
      'a condition',
      route('directResponse: { conditional: [{ condition: "backend.name != \'\'", status: 200 }] }'),
      /sent to a backend/,
    ],
    ['a delay', route('delay: { duration: response.code }'), /sent to a backend/],
    ['a precondition', route('retry: { codes: [503], precondition: "response.code == 1" }'), /sent to a backend/],
    [
      'a location',
      route('apiKey: { keys: [{ key: a }], location: { expression: llm.provider } }'),
      /before the request is sent/,
    ],
    [
      'a question to a service',
      route(`extAuthz: { ${HOST}, protocol: { http: { path: backend.name } } }`),
      /sent to a backend/,
    ],
    ['a descriptor', RATE(`entries: [{ key: a, value: ${CODE} }]`), /sent to a backend/],
    ['a backend', route('', SET('request', CODE)), /before the backend responds/],
    [
      'a response that is not over',
      route(SET('response', 'string(request.endTime)')),
      /while the response is forwarded/,
    ],
    [
      'a target gateway',
      targeted('gateway: { gatewayName: default }', `policy: { ${SET('request', CODE)} }`),
      /sent to a backend/,
    ],
    [
      'a target gateway before routes',
      targeted('gateway: { gatewayName: default }', `phase: gateway, policy: { ${SET('request', NAME)} }`),
      /before a route is selected/,
    ],
    [
      'a connection',
      frontend('networkAuthorization: { rules: [\'request.method == "GET"\'] }'),
      /can only read source/,
    ],
    ['the start', frontend(`tracing: { ${HOST}, resources: { a: request.path } }`), /can only read env/],
    [
      'sampling',
      frontend(`tracing: { ${HOST}, randomSampling: "response.code == 200" }`),
      /before a route is selected/,
    ],
    ['a field of a model', route('ai: { transformations: { a: response.code } }'), /before the model responds/],
  ])('%s', (_, text, expected) => {
    const found = problems(text)
    expect(found).toHaveLength(1)
    expect(found[0]).toMatch(expected)
  })
})

describe('a file is accepted', () => {
  it.each([
    ['a route knows itself', route(`authorization: { rules: ['${NAME} == "r"'] }`)],
    [
      'a route after the choice, attached',
      targeted('gateway: { gatewayName: default }', `policy: { ${SET('request', NAME)} }`),
    ],
    ['a backend knows itself', route('', SET('request', 'backend.name'))],
    ['responses', route(SET('response', CODE), SET('response', CODE))],
    ['a response before routes', listener(SET('response', CODE))],
    ['a condition of retry', route('retry: { codes: [503], condition: "response.code == 500" }')],
    ['health', route('', 'health: { unhealthyExpression: "response.code > 499" }')],
    ['what a service answers', route(`extAuthz: { ${HOST}, protocol: { http: { metadata: { a: response.body } } } }`)],
    ['a redirect of a service', route(`extAuthz: { ${HOST}, protocol: { http: { redirect: '"/" + ${CODE}' } } }`)],
    ['attributes of the response', route(`extProc: { ${HOST}, responseAttributes: { a: response.code } }`)],
    [
      'tokens, when all is over',
      RATE('entries: [{ key: a, value: llm.provider }], type: tokens, cost: llm.totalTokens'),
    ],
    ['a log line', frontend('accessLog: { add: { a: response.code, b: proxy.responseProcessingDuration } }')],
    ['a call of a service', route(`extAuthz: { ${HOST}, policies: { ${SET('request', 'backend.name')} } }`)],
    ['who is prepared for absence', route('authorization: { rules: ["default(response.code, 200) == 200"] }')],
  ])('%s', (_, text) => {
    expect(problems(text)).toEqual([])
  })
})
