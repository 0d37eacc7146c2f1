import { describe, expect, it } from 'vitest'
import { CEL_FIELDS, isHostRecord, variableNames } from '#api/cel/values/host.ts'
import { CEL_NOT_YET, CEL_VARIABLES } from '#api/cel/variables.ts'
import { evaluate, FAILED } from './evaluate.ts'
import { exchangeOf, expression, upstreamResponse } from '../policy/exchange.testing.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { BodyCopies } from '../log/body-copies.ts'
import { variablesOf } from './variables.ts'
import { pricedAt } from '../llm/cost/priced.testing.ts'
import { emptyFacts } from '../llm/usage.ts'
import { madeStream } from '../message/made-stream.ts'

function full(): Exchange {
  const exchange = exchangeOf({
    method: 'POST',
    path: '/p',
    query: 'a=1&a=2',
    host: 'example.com:8080',
    headers: [['x', '1'], ['y', 'a'], ['y', 'b'], ['cookie', 'c=d']],
    body: 'hello',
  }) // prettier-ignore
  exchange.place = {
    bind: '80/ns/gw',
    gatewayNamespace: 'ns',
    gatewayName: 'gw',
    listener: 'l',
    routeKind: 'HTTPRoute',
    routeNamespace: 'ns',
    routeName: 'r',
    routeRule: undefined,
  }
  exchange.response = upstreamResponse([['grpc-status', '5']], 'bye')
  exchange.backendName = 'service/ns/svc:80'
  exchange.backendProtocol = 'http'
  exchange.backendType = 'service'
  exchange.upstreamStartMs = exchange.startMs + 2
  exchange.upstreamHeadMs = exchange.startMs + 5
  exchange.llm = {
    ...emptyFacts('openai'),
    isStreaming: true,
    requestModel: 'm',
    responseModel: undefined,
    inputTokens: 3,
    cachedInputTokens: 1,
    cacheCreationInputTokens: 2,
    outputTokens: 4,
    reasoningTokens: 3,
    totalTokens: 7,
    timeToFirstTokenMs: 12,
    providerInputTokens: 3,
    serviceTier: 'default',
    params: { temperature: 1, max_tokens: 64 },
    countTokens: 9,
    prompt: [{ role: 'user', content: 'hi' }],
    answer: { completion: ['yes'], toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }] },
    pricing: pricedAt({ usd: { total: 0.5, input: 0.5 }, rates: { input: 2 } }),
    kinds: {
      inputText: undefined,
      inputImage: undefined,
      inputAudio: 5,
      outputText: undefined,
      outputImage: undefined,
      outputAudio: undefined,
    },
  }
  exchange.mcp = {
    methodName: 'tools/call',
    sessionId: 's',
    kind: 'tool',
    target: 't',
    name: 'n',
    errorCode: undefined,
    errorMessage: 'no',
    dropped: undefined,
  }
  exchange.metadata = { k: 'v' }
  exchange.attributes = {
    jwt: { sub: 'me' },
    apiKey: { tier: 'gold' },
    basicAuth: { username: 'u' },
    extauthz: { a: 1n },
  }
  return exchange
}

describe('variables', () => {
  it('have the count of the prompt as input tokens until the usage is known', () => {
    const exchange = full()
    exchange.llm = { ...emptyFacts('openai'), promptTokens: 9 }
    expect(evaluate(expression('llm.inputTokens'), exchange)).toBe(9n)
    exchange.llm.inputTokens = 7
    expect(evaluate(expression('llm.inputTokens'), exchange)).toBe(7n)
  })

  it.each([
    ['request.method == "POST"'],
    ['request.uri == "http://example.com:8080/p?a=1&a=2"'],
    ['request.host == "example.com:8080"'],
    ['request.scheme == "http"'],
    ['request.path == "/p"'],
    ['request.pathAndQuery == "/p?a=1&a=2"'],
    ['request.pathAndQuery.query("a") == ["1", "2"]'],
    ['request.version == "HTTP/1.1"'],
    ['request.headers["X"] == "1"'],
    ['request.headers["y"] == ["a", "b"]'],
    ['request.headers.cookie("c") == "d"'],
    ['string(request.body) == "hello"'],
    ['string(request.bodyPrefix) == "hello"'],
    ['request.startTime > timestamp("2020-01-01T00:00:00Z")'],
    ['response.code == 200'],
    ['response.grpcStatus == 5'],
    ['response.headers["grpc-status"] == "5"'],
    ['string(response.body) == "bye"'],
    ['proxy.bind == "80/ns/gw"'],
    ['proxy.gateway.namespace == "ns" && proxy.gateway.name == "gw"'],
    ['proxy.listener.name == "l"'],
    ['proxy.route == {"namespace": "ns", "name": "r", "kind": "HTTPRoute"}'],
    ['proxy.requestProcessingDuration == duration("2ms")'],
    ['proxy.upstreamDuration == duration("3ms")'],
    ['source.address == "10.0.0.1" && source.port == 40000'],
    ['source.rawAddress == "10.0.0.1" && source.rawPort == 40000'],
    ['destination.address == "10.0.0.2" && destination.port == 80'],
    ['backend.name == "service/ns/svc:80" && backend.type == "service" && backend.protocol == "http"'],
    ['llm.streaming && llm.provider == "openai" && llm.requestModel == "m"'],
    ['llm.inputTokens == 3 && llm.outputTokens == 4 && llm.totalTokens == 7'],
    ['llm.timeToFirstToken == duration("12ms") && !has(llm.timePerOutputToken)'],
    ['llm.params == {"temperature": 1.0, "max_tokens": 64} && llm.serviceTier == "default"'],
    ['llm.inputAudioTokens == 5 && !has(llm.outputAudioTokens) && llm.providerInputTokens == 3'],
    ['llm.cachedInputTokens == 1 && llm.cacheCreationInputTokens == 2 && llm.reasoningTokens == 3'],
    ['llm.cost == {"total": 0.5, "input": 0.5} && !has(llm.cost.output) && llm.costRates.input == 2.0'],
    ['mcp.tool.error == "no"'],
    ['!has(request.endTime) && !has(proxy.responseProcessingDuration)'],
    ['mcp.methodName == "tools/call" && mcp.sessionId == "s" && mcp.tool.target == "t" && mcp.tool.name == "n"'],
    ['metadata.k == "v"'],
    ['jwt.sub == "me" && apiKey.tier == "gold" && basicAuth.username == "u" && extauthz.a == 1'],
    ['!has(mcp.prompt) && !has(llm.responseModel) && !has(destination.hostname) && !has(proxy.route.rule)'],
    ['"env" in variables() && !("extproc" in variables())'],
  ])('%s', (source) => {
    expect(evaluate(expression(source), full())).toBe(true)
  })

  it.each([
    'request.body',
    'request.bodyPrefix',
    'response',
    'response.code',
    'proxy.bind',
    'proxy.route',
    'backend',
    'llm.provider',
    'mcp.tool',
    'metadata.k',
    'jwt.sub',
    'apiKey',
    'basicAuth',
    'env.HOME',
    'constructor',
    'request.constructor',
    'response.isOf',
    'toString',
  ])('%s does not exist', (source) => {
    expect(evaluate(expression(source), exchangeOf())).toBe(FAILED)
  })

  it('does not see a body that is still streamed', () => {
    const exchange = exchangeOf()
    exchange.response = upstreamResponse(
      [],
      madeStream(
        (async function* body() {
          yield Buffer.from('x')
        })(),
        () => {},
      ),
    )
    expect(evaluate(expression('response.body'), exchange)).toBe(FAILED)
    expect(evaluate(expression('response.code'), exchange)).toBe(200n)
  })

  it.each([
    'request.endTime - request.startTime == duration("16ms")',
    'proxy.responseProcessingDuration == duration("11ms")',
    'llm.timePerOutputToken > duration("1ms") && llm.timePerOutputToken < duration("2ms")',
    'string(request.body) == "begin" && string(request.bodyPrefix) == "begin"',
    'string(response.body) == "answer" && string(response.bodyPrefix) == "answer"',
  ])('after the end: %s', (source) => {
    const exchange = full()
    const streamed = madeStream<Buffer>((async function* body() {})(), () => {})
    exchange.response = upstreamResponse([], streamed)
    exchange.request.body = undefined
    exchange.bodies = new BodyCopies()
    exchange.bodies.request = Buffer.from('begin')
    exchange.bodies.response = Buffer.from('answer')
    exchange.endMs = exchange.startMs + 16
    exchange.isOver = true
    expect(evaluate(expression(source), exchange)).toBe(true)
  })

  it('shows the beginning of a body that was too large, and never as the body', () => {
    const exchange = exchangeOf()
    exchange.bodies = new BodyCopies()
    exchange.bodies.request = Buffer.from('begin')
    expect(evaluate(expression('string(request.bodyPrefix)'), exchange)).toBe('begin')
    expect(evaluate(expression('request.body'), exchange)).toBe(FAILED)
  })

  it('is built once and shows the present request and response', () => {
    const exchange = full()
    const first = variablesOf(exchange)
    expect(evaluate(expression('response.code'), exchange)).toBe(200n)
    exchange.request.path = '/changed'
    exchange.response = upstreamResponse()
    exchange.response.status = 404
    expect(variablesOf(exchange)).toBe(first)
    expect(evaluate(expression('request.path'), exchange)).toBe('/changed')
    expect(evaluate(expression('response.code'), exchange)).toBe(404n)
  })
})

describe('the list of variables', () => {
  it('contains exactly the variables of expressions in this version', () => {
    const exchange = full()
    const shown = [...variableNames(variablesOf(exchange))].flatMap((name) => {
      const value = variablesOf(exchange)[name]
      const isView = typeof value === 'object' && value !== null && isHostRecord(value)
      return [name, ...(isView ? [...value[CEL_FIELDS]].map((member) => `${name}.${member}`) : [])]
    })
    const views = new Set(shown.filter((name) => name.includes('.')).map((name) => name.split('.', 1)[0]))
    const listed = Object.entries(CEL_VARIABLES).flatMap(([name, shape]) => [
      name,
      ...(shape !== 'open' && views.has(name) ? Object.keys(shape).map((member) => `${name}.${member}`) : []),
    ])
    expect(shown.sort()).toEqual(listed.filter((name) => !CEL_NOT_YET.has(name)).sort())
    expect(views).toEqual(new Set(['backend', 'destination', 'llm', 'mcp', 'proxy', 'request', 'response', 'source']))
  })
})
