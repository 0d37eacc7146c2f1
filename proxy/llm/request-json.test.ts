// A body is parsed once between model router and provider, and its bytes are forwarded unless something is edited.
import { gzipSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import { exchangeOf } from '../policy/exchange.testing.ts'
import { llmBackend, offeringModels } from './backend.testing.ts'
import { askFor, readModelRequest } from './model-request.ts'
import { takeRequestJson } from './request-json.ts'

let received: unknown
const keep = (body: unknown): void => {
  received = Buffer.isBuffer(body) ? body.toString() : body
}

const backends = {
  plain: llmBackend({ openai: {} }, {}, keep),
  edited: llmBackend({ openai: {} }, { overrides: [{ field: 'temperature', value: 0.5 }] }, keep),
  translated: llmBackend({ anthropic: {} }, {}, keep),
}
const models = offeringModels(
  [
    ...Object.keys(backends).map((name) => ({ name, backend: name })),
    { name: 'virtual', weighted: [{ backend: 'plain', model: 'plain', weight: 1 }] },
    { name: 'chosen', conditional: [{ backend: 'plain', model: 'chosen', when: 'llmRequest.n == 1' }] },
  ],
  backends,
)

/** Unusual spelling that no serializer creates. */
const bodyFor = (model: string): string =>
  `{ "model":"${model}",\n"n":1, "temperature": 1.0, "messages": [{"role":"user","content":"hi"}] }`

/** How often a text that names a model is parsed. */
async function send(path: string, body: string | Buffer, handler = models): Promise<number> {
  const isEncoded = typeof body !== 'string'
  const exchange = exchangeOf({ method: 'POST', path, headers: isEncoded ? [['content-encoding', 'gzip']] : [] })
  exchange.request.body = Buffer.from(body)
  const parse = vi.spyOn(JSON, 'parse')
  try {
    await new Promise<void>((resolve) => handler(exchange, () => resolve()))
    expect(exchange.errorDetail).toBeUndefined()
    expect(exchange.response?.status).toBe(200)
    expect(exchange.parsedBody).toBeUndefined()
    return parse.mock.calls.filter(([text]) => text.includes('"model"')).length
  } finally {
    parse.mockRestore()
  }
}

describe('a request for a model', () => {
  it.each(['plain', 'chosen'])('%s is parsed once, and its bytes are forwarded', async (model) => {
    expect(await send('/v1/chat/completions', bodyFor(model))).toBe(1)
    expect(received).toBe(bodyFor(model))
  })

  it('is parsed once where another model is asked for, and only that is edited', async () => {
    expect(await send('/v1/chat/completions', bodyFor('virtual'))).toBe(1)
    expect(received).toBe(bodyFor('plain'))
  })

  it('is parsed once where a policy edits it', async () => {
    expect(await send('/v1/chat/completions', bodyFor('edited'))).toBe(1)
    expect(received).toBe(bodyFor('edited').replace('1.0', '0.5'))
  })

  it('is parsed once where it is translated', async () => {
    expect(await send('/v1/chat/completions', bodyFor('translated'))).toBe(1)
    expect(JSON.parse(String(received))).toMatchObject({ model: 'translated', max_tokens: 4096 })
  })

  it.each([
    ['9007199254740993', true],
    ['-123456789012345678901234567890', true],
    ['123456789012345', false],
    ['"1234567890123456"', false],
  ])('keeps %s where it is translated; a second parser is used for long numbers: %s', async (value, isLong) => {
    const tool = `{"type":"function","function":{"name":"f","parameters":{"type":"object","const":${value}}}}`
    const body = bodyFor('translated').replace('"n":1', `"n":1,"tools":[${tool}]`)
    expect(await send('/v1/chat/completions', body)).toBe(isLong ? 3 : 1)
    expect(received).toContain(`"const":${value}`)
  })

  it('is parsed once where it is compressed, and forwarded without the encoding', async () => {
    expect(await send('/v1/chat/completions', gzipSync(bodyFor('plain')))).toBe(1)
    expect(received).toBe(bodyFor('plain'))
  })

  it('is parsed once where its type is passed through', async () => {
    expect(await send('/v1/files', bodyFor('plain'))).toBe(1)
    expect(received).toBe(bodyFor('plain'))
    expect(await send('/v1/files', bodyFor('virtual'))).toBe(1)
    expect(received).toBe(bodyFor('plain'))
  })
})

it('a request to a provider is parsed once, and its bytes are forwarded', async () => {
  expect(await send('/v1/chat/completions', bodyFor('any'), backends.plain)).toBe(1)
  expect(received).toBe(bodyFor('any'))
})

describe('what the model router has read', () => {
  it('is taken once', async () => {
    const exchange = exchangeOf({ method: 'POST', body: '{"model":"a"}' })
    const request = await readModelRequest(exchange, 100)
    if (typeof request === 'string') throw new Error(request)
    askFor(exchange, request, 'b')
    expect(takeRequestJson(exchange)?.members).toEqual({ model: 'b' })
    expect(takeRequestJson(exchange)).toBeUndefined()
  })

  it('is not used for a body that a filter has replaced', async () => {
    const exchange = exchangeOf({ method: 'POST', body: '{"model":"a"}' })
    const request = await readModelRequest(exchange, 100)
    if (typeof request === 'string') throw new Error(request)
    askFor(exchange, request, 'a')
    exchange.request.body = Buffer.from('{"model":"c"}')
    expect(takeRequestJson(exchange)).toBeUndefined()
  })
})
