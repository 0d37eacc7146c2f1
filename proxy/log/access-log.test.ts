import { describe, expect, it } from 'vitest'
import { Flattened } from '#api/cel/values/flattened.ts'
import { Exchange } from '../exchange/exchange.ts'
import { HeaderList } from '../message/headers.ts'
import { HttpRequest, HttpResponse } from '../message/message.ts'
import type { AccessLogRule } from './access-log.ts'
import { accessLogRule, createAccessLog } from './access-log.ts'
import type { LogFormat } from './logger.ts'
import { pricedAt } from '../llm/cost/priced.testing.ts'
import { emptyFacts } from '../llm/usage.ts'

const connection = {
  id: 7,
  sourceAddress: '10.1.2.3',
  sourcePort: 4567,
  localAddress: '10.0.0.1',
  localPort: 80,
  isTls: false,
  sni: undefined,
  signal: new AbortController().signal,
  close: () => undefined,
  cut: () => true,
}
const START_MS = 1000
// oxlint-disable-next-line no-control-regex -- what must not be in a line
const UNSAFE = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u200b\u2028-\u202e\u{e0041}]/u

function exchangeOf(request: Partial<ConstructorParameters<typeof HttpRequest>[0]> = {}): Exchange {
  const init = {
    method: 'GET',
    path: '/p',
    query: 'q=1',
    host: 'shop.example',
    scheme: 'http',
    version: 'HTTP/1.1',
    headers: HeaderList.of([['content-type', 'application/grpc']]),
  } as const
  const exchange = new Exchange(connection, new HttpRequest({ ...init, ...request }), START_MS)
  exchange.place = {
    bind: '80/infra/edge',
    gatewayNamespace: 'infra',
    gatewayName: 'edge',
    listener: 'http',
    routeKind: 'HTTPRoute',
    routeNamespace: 'shop',
    routeName: 'cart',
    routeRule: 'rule-1',
  }
  exchange.endpoint = '10.9.8.7:8080'
  exchange.backendProtocol = 'llm'
  exchange.response = new HttpResponse(200, HeaderList.of([['grpc-status', '5']]), '', false)
  return exchange
}

function logged(exchange: Exchange, format: LogFormat, rule?: AccessLogRule): string {
  const lines: string[] = []
  const log = createAccessLog({ format, write: (line) => lines.push(line) })
  // Twice: the second line comes from what the first has cached.
  log.log(exchange, rule, START_MS + 12.9)
  log.log(exchange, rule, START_MS + 12.9)
  expect(lines[1]?.replace(/\.\d{6}Z/, '')).toBe(lines[0]?.replace(/\.\d{6}Z/, ''))
  return lines[0] ?? ''
}

const PLACE = 'gateway=infra/edge listener=http route_rule=rule-1 route=shop/cart'
const HTTP =
  'endpoint=10.9.8.7:8080 src.addr=10.1.2.3:4567 http.method=GET http.host=shop.example http.path=/p?q=1 ' +
  'http.version=HTTP/1.1 http.status=200 grpc.status=5'

describe('connections that are passed on', () => {
  it('have a line without what only requests have', () => {
    const exchange = exchangeOf()
    Object.assign(exchange, { connection: { ...connection, isTls: true, sni: 'db.example' }, backendProtocol: 'tcp' })
    const lines: string[] = []
    const log = createAccessLog({ format: 'text', write: (line) => lines.push(line) })
    log.connection(exchange, undefined, START_MS + 12.9)
    expect(lines[0]?.split('\tinfo\trequest ')[1]).toBe(
      `${PLACE} endpoint=10.9.8.7:8080 src.addr=10.1.2.3:4567 tls.sni=db.example protocol=tcp duration=12ms\n`,
    )
    log.connection(exchange, accessLogRule({ filter: () => false, remove: [], add: [] }), START_MS)
    expect(lines.length).toBe(1)
  })
})

describe('createAccessLog', () => {
  it('writes the fields in their order as text', () => {
    expect(logged(exchangeOf(), 'text')).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z\tinfo\trequest /)
    expect(logged(exchangeOf(), 'text').split('\tinfo\trequest ')[1]).toBe(
      `${PLACE} ${HTTP} protocol=llm duration=12ms\n`,
    )
  })

  it.each([
    [{ jwt: { sub: 'me', rawToken: 'x' } }, `${HTTP} jwt.sub=me protocol`],
    [{ jwt: { sub: 'a b\njwt.sub=root' } }, `${HTTP} jwt.sub="a b\\njwt.sub=root" protocol`],
    [{ jwt: { sub: 1n } }, `${HTTP} protocol`],
    [{ jwt: 'text' }, `${HTTP} protocol`],
    [{ apiKey: { sub: 'me' } }, `${HTTP} protocol`],
  ])('names the subject of a token, case %#', (attributes, fields) => {
    const exchange = exchangeOf()
    exchange.attributes = attributes
    expect(logged(exchange, 'text')).toContain(fields)
  })

  const NO_KINDS = {
    inputText: undefined,
    inputImage: undefined,
    inputAudio: undefined,
    outputText: undefined,
    outputImage: undefined,
    outputAudio: undefined,
  }

  it('writes LLM and MCP facts, reason and error', () => {
    const exchange = exchangeOf()
    exchange.mcp = {
      methodName: 'tools/call',
      sessionId: 'abc',
      kind: 'tool',
      target: 'time',
      name: 'now',
      errorCode: -32_603,
      errorMessage: 'no "clock"',
      dropped: undefined,
    }
    exchange.llm = {
      ...emptyFacts('openai'),
      isStreaming: true,
      requestModel: 'gpt',
      responseModel: 'gpt-1',
      inputTokens: 10,
      cachedInputTokens: 4,
      cacheCreationInputTokens: 2,
      outputTokens: 3,
      reasoningTokens: 1,
      totalTokens: 13,
      timeToFirstTokenMs: 2.9,
      droppedFields: 'seed, metadata',
      guards: [
        { phase: 'Request', guard: 'webhook', action: 'Allow', count: 1, matched: new Set() },
        { phase: 'Request', guard: 'regex', action: 'Mask', count: 2, matched: new Set(['Ssn', 'matches[0]']) },
        { phase: 'Response', guard: 'webhook', action: 'FailOpen', count: 1, matched: new Set() },
      ],
      kinds: { ...NO_KINDS, outputImage: 5, inputAudio: 6, outputAudio: 7 },
      params: {
        seed: 9,
        presence_penalty: 0.5,
        frequency_penalty: -0.5,
        max_tokens: 64,
        top_p: 0.9,
        encoding_format: 'float',
        dimensions: 256,
        temperature: 0.2,
      },
    }
    exchange.reason = 'Timeout'
    exchange.errorDetail = 'upstream "x" slow'
    expect(logged(exchange, 'text').split(' protocol=llm ')[1]).toBe(
      'mcp.method.name=tools/call mcp.target=time mcp.resource.type=tool gen_ai.tool.name=now mcp.session.id=abc ' +
        'mcp.error.code=-32603 mcp.error.message="no \\"clock\\"" gen_ai.operation.name=chat ' +
        'gen_ai.provider.name=openai gen_ai.request.model=gpt gen_ai.response.model=gpt-1 ' +
        'gen_ai.usage.input_tokens=10 gen_ai.usage.cache_creation.input_tokens=2 ' +
        'gen_ai.usage.cache_read.input_tokens=4 gen_ai.usage.output_tokens=3 gen_ai.usage.reasoning_tokens=1 ' +
        'gw.ai.time_to_first_token=0.002900 gw.ai.time_per_output_token=0.005000 ' +
        'gen_ai.usage.output_image_tokens=5 gen_ai.usage.input_audio_tokens=6 gen_ai.usage.output_audio_tokens=7 ' +
        'gen_ai.request.temperature=0.2 gen_ai.embeddings.dimension.count=256 ' +
        'gen_ai.request.encoding_formats=float gen_ai.request.top_p=0.9 gen_ai.request.max_tokens=64 ' +
        'gen_ai.request.frequency_penalty=-0.5 gen_ai.request.presence_penalty=0.5 gen_ai.request.seed=9 ' +
        'gw.ai.dropped_fields="seed, metadata" ' +
        'gw.ai.guards="Request regex Mask (Ssn matches[0]), Response webhook FailOpen" ' +
        'error="upstream \\"x\\" slow" reason=Timeout duration=12ms\n',
    )
  })

  it('shortens texts of clients and servers', () => {
    const exchange = exchangeOf()
    const long = 'x'.repeat(5000)
    const errors = { errorCode: 1, errorMessage: long, dropped: undefined }
    exchange.mcp = { methodName: long, sessionId: 'abc', kind: 'tool', target: 'time', name: long, ...errors }
    exchange.errorDetail = `time: initialize failed: ${long}`
    for (const format of ['text', 'json'] as const) {
      const line = logged(exchange, format)
      expect(line.length).toBeLessThan(4 * 2048 + 1000)
      expect(line.match(/…/g)).toHaveLength(4)
    }
  })

  it('writes the cost of a call as a decimal number of USD', () => {
    const exchange = exchangeOf()
    exchange.llm = { ...emptyFacts('openai'), pricing: pricedAt({ usd: { total: 0.000123456789 } }) }
    expect(logged(exchange, 'text')).toContain(' gw.ai.usage.cost.total=0.000123456789 ')
    expect(JSON.parse(logged(exchange, 'json'))).toMatchObject({ 'gw.ai.usage.cost.total': 0.000123456789 })
    exchange.llm = { ...emptyFacts('openai'), pricing: pricedAt(undefined) }
    expect(logged(exchange, 'text')).not.toContain('cost')
  })

  it('writes the same fields as JSON', () => {
    const line = logged(exchangeOf(), 'json')
    expect(Object.keys(JSON.parse(line))).toEqual(
      (
        'level time scope gateway listener route_rule route endpoint src.addr http.method http.host http.path ' +
        'http.version http.status grpc.status protocol duration'
      ).split(' '),
    )
    expect(JSON.parse(line)).toMatchObject({ level: 'info', scope: 'request', 'http.status': 200, duration: '12ms' })
  })

  it('drops removed and replaced fields and puts added ones last', () => {
    const rule = accessLogRule({
      filter: (exchange) => exchange.request.method === 'GET',
      remove: ['http.host', 'listener'],
      add: [
        { name: 'user', value: () => 'a b' },
        { name: 'endpoint', value: () => 7n },
        { name: 'none', value: () => undefined },
        { name: 'map', value: () => new Map([['k', [1, true]]]) },
      ],
    })
    const text = logged(exchangeOf(), 'text', rule)
    expect(text).not.toMatch(/http\.host=|listener=|endpoint=10|none=/)
    expect(text).toContain('route=shop/cart')
    expect(text).toMatch(/ duration=12ms user="a b" endpoint=7 map=\{"k":\[1,true\]\}\n$/)
    expect(JSON.parse(logged(exchangeOf(), 'json', rule))).toMatchObject({
      user: 'a b',
      endpoint: 7,
      map: { k: [1, true] },
    })
    const lines: string[] = []
    createAccessLog({ format: 'text', write: (line) => lines.push(line) }).log(exchangeOf({ method: 'POST' }), rule)
    expect(lines).toEqual([])
  })

  it.each([
    'a b',
    'a\nb',
    'a\tb',
    '"',
    'x\u2028y',
    'back\\slash',
    'x\u0085',
    '\u001b[2J',
    '\u202egpj',
    '\u200b',
    '\u{e0041}',
  ])('does not let the value %j forge fields or lines', (value) => {
    const exchange = exchangeOf({ path: `/${value}`, host: value, method: value })
    const text = logged(exchange, 'text')
    const quoted = / http\.host=("(?:[^"\\]|\\.)*") http\.path=/.exec(text)?.[1]
    expect(JSON.parse(quoted ?? '')).toBe(value)
    expect(text.slice(0, -1)).not.toMatch(UNSAFE)
    expect(logged(exchange, 'json').slice(0, -1)).not.toMatch(UNSAFE)
    expect(JSON.parse(logged(exchange, 'json'))).toMatchObject({ 'http.host': value, 'http.method': value })
  })

  it.each(['a b', 'a\nx', 'a=b', '"', '\u001b[2J', '\u202e', '\u0085'])(
    'does not let the name %j of a flattened value forge fields or lines',
    (name) => {
      const claims = { [name]: 'value', deep: [{ [name]: '\u001b[2J\u202e' }] }
      const rule = accessLogRule({
        filter: undefined,
        remove: [],
        add: [{ name: 'jwt', value: () => new Flattened(claims, false) }],
      })
      const text = logged(exchangeOf(), 'text', rule)
      expect(text.slice(0, -1)).not.toMatch(UNSAFE)
      const quoted = / ("(?:[^"\\]|\\.)*")=value jwt\.deep=/.exec(text)?.[1]
      expect(JSON.parse(quoted ?? '')).toBe(`jwt.${name}`)
      const json = logged(exchangeOf(), 'json', rule)
      expect(json.slice(0, -1)).not.toMatch(UNSAFE)
      expect(JSON.parse(json)).toMatchObject({ [`jwt.${name}`]: 'value', 'jwt.deep': claims.deep })
    },
  )

  it('leaves out what is absent', () => {
    const exchange = exchangeOf({ query: '' })
    exchange.place = undefined
    exchange.endpoint = undefined
    exchange.backendProtocol = undefined
    exchange.response = undefined
    expect(logged(exchange, 'text').split('\tinfo\trequest ')[1]).toBe(
      'src.addr=10.1.2.3:4567 http.method=GET http.host=shop.example http.path=/p http.version=HTTP/1.1 duration=12ms\n',
    )
  })

  it('adds the connection at level debug', () => {
    const lines: string[] = []
    createAccessLog({ format: 'text', write: (line) => lines.push(line), isVerbose: () => true }).log(exchangeOf())
    expect(lines[0]).toMatch(/\trequest connection\.id=7 request\.id=[0-9a-f]{32} gateway=/)
  })

  it('logs refused requests', () => {
    const lines: string[] = []
    const log = createAccessLog({ format: 'text', write: (line) => lines.push(line) })
    log.refused({ sourceAddress: '::1', sourcePort: 5, status: 400, detail: 'bad line' })
    expect(lines[0]).toContain('\trequest src.addr=[::1]:5 http.status=400 error="bad line" reason=InvalidRequest\n')
  })

  it.each([
    [
      'https',
      '\trequest gateway=ns/gw listener=https src.addr=10.0.0.1:5 http.status=403 error="no" reason=Authorization\n',
    ],
    [undefined, '\trequest gateway=ns/gw src.addr=10.0.0.1:5 http.status=403 error="no" reason=Authorization\n'],
  ])('says where something was refused; listener: %s', (listener, expected) => {
    const lines: string[] = []
    const log = createAccessLog({ format: 'text', write: (line) => lines.push(line) })
    const place = { gatewayNamespace: 'ns', gatewayName: 'gw', listener }
    const refusal = { sourceAddress: '10.0.0.1', sourcePort: 5, status: 403, detail: 'no' }
    log.refused({ ...refusal, reason: 'Authorization', place })
    expect(lines[0]).toContain(expected)
  })
})
