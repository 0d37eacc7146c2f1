// Where a request names its model, and which requests are rejected.
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { exchangeOf } from '../policy/exchange.testing.ts'
import { askFor, formField, readModelRequest } from './model-request.ts'

const BYTES_MAX = 200
const FORM = 'multipart/form-data; boundary="x y"'

function form(...parts: string[]): string {
  return `${parts.map((part) => `--x y\r\n${part}\r\n`).join('')}--x y--\r\n`
}

function field(name: string, value: string, more = ''): string {
  return `Content-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}`
}

describe('readModelRequest', () => {
  it.each([
    ['JSON', '{"model":"a"}', 'application/json', { model: 'a', json: { members: { model: 'a' } } }],
    ['JSON that names it twice', '{"model":"b","model":"a"}', 'application/json', { model: 'a' }],
    ['JSON that is not UTF-8', Buffer.from('{"model":"a\xff"}', 'latin1'), 'application/json', 'modelRequestInvalid'],
    [
      'a form',
      form(field('image', 'x', '; filename="i.png"'), field('model', 'a')),
      FORM,
      { model: 'a', json: undefined },
    ],
    ['a form without it', form(field('prompt', 'model')), FORM, 'modelMissing'],
    ['a file of that name', form(field('model', 'a', '; filename=a')), FORM, 'modelMissing'],
    ['no JSON', 'model=a', 'application/json', 'modelRequestInvalid'],
    ['a list', '["a"]', 'application/json', 'modelRequestInvalid'],
    ['no model', '{}', 'application/json', 'modelMissing'],
    ['an empty model', '{"model":""}', 'application/json', 'modelMissing'],
    ['a model that is not a string', '{"model":["a"]}', 'application/json', 'modelMissing'],
  ])('%s', async (_, body, type, expected) => {
    const exchange = exchangeOf({ method: 'POST', headers: [['content-type', type]] })
    exchange.request.body = Buffer.from(body)
    const request = await readModelRequest(exchange, BYTES_MAX)
    if (typeof expected === 'string') expect(request).toBe(expected)
    else expect(request).toMatchObject(expected)
  })

  it('reads compressed bodies, up to the limit', async () => {
    const read = (text: string) => {
      const exchange = exchangeOf({ method: 'POST', headers: [['content-encoding', 'gzip']] })
      exchange.request.body = gzipSync(text)
      return readModelRequest(exchange, BYTES_MAX)
    }
    const padded = (length: number): string => '{"model":"a"}'.padEnd(length)
    expect(await read(padded(BYTES_MAX))).toMatchObject({ model: 'a' })
    expect(await read(padded(BYTES_MAX + 1))).toBe('modelRequestTooLarge')
  })

  it('rejects requests without a body or with an invalid encoding', async () => {
    expect(await readModelRequest(exchangeOf({ method: 'POST' }), BYTES_MAX)).toBe('modelRequestInvalid')
    const odd = exchangeOf({ method: 'POST', headers: [['content-encoding', 'odd']], body: '{"model":"a"}' })
    expect(await readModelRequest(odd, BYTES_MAX)).toBe('llmRequestEncoding')
  })
})

describe('askFor', () => {
  it('changes the body and its headers only if the model differs', async () => {
    const exchange = exchangeOf({ method: 'POST', headers: [['content-encoding', 'gzip']] })
    const raw = gzipSync('{"model":"a","n":1.0}')
    exchange.request.body = raw
    const request = await readModelRequest(exchange, BYTES_MAX)
    if (typeof request === 'string') throw new Error(request)
    askFor(exchange, request, 'a')
    expect(exchange.request.body).toBe(raw)
    askFor(exchange, request, 'b')
    expect(String(exchange.request.body)).toBe('{"model":"b","n":1.0}')
    expect(exchange.request.headers.has('content-encoding')).toBe(false)
  })

  it('keeps one model in a body that names several, also if that one is requested', async () => {
    const exchange = exchangeOf({ method: 'POST' })
    exchange.request.body = Buffer.from('{"model":"dear","model":"cheap"}')
    const request = await readModelRequest(exchange, BYTES_MAX)
    if (typeof request === 'string') throw new Error(request)
    askFor(exchange, request, request.model)
    expect(String(exchange.request.body)).toBe('{"model":"cheap"}')
  })
})

describe('a path that names the model', () => {
  const read = async (path: string, body: string) => {
    const exchange = exchangeOf({ method: 'POST', path })
    exchange.request.body = Buffer.from(body)
    const request = await readModelRequest(exchange, BYTES_MAX)
    if (typeof request !== 'string') askFor(exchange, request, 'b/c')
    const text = Buffer.isBuffer(exchange.request.body) ? exchange.request.body.toString() : ''
    return [typeof request === 'string' ? request : request.model, exchange.request.path, text]
  }

  it.each([
    ['/v1beta/models/a:generateContent', '{"n":1.0}', 'a', '/v1beta/models/b%2Fc:generateContent', '{"n":1.0}'],
    ['/x/models/a%2Fd:0:countTokens', '{}', 'a/d:0', '/x/models/b%2Fc:countTokens', '{}'],
    ['/v1/tunedModels/a:generateContent', '{}', 'tunedModels/a', '/v1/models/b%2Fc:generateContent', '{}'],
    ['/v1/models/a:generateContent', '{"model":"x"}', 'a', '/v1/models/b%2Fc:generateContent', '{"model":"b/c"}'],
    ['/v1/models/a:', '{"model":"x"}', 'x', '/v1/models/a:', '{"model":"b/c"}'],
    ['/v1/models/:generateContent', '{"model":"x"}', 'x', '/v1/models/:generateContent', '{"model":"b/c"}'],
    ['/v1/models/ft:a-1', '{"model":"x"}', 'x', '/v1/models/ft:a-1', '{"model":"b/c"}'],
    ['/v1/models/%ff:generateContent', '{}', 'modelMissing', '/v1/models/%ff:generateContent', '{}'],
  ])('%s %s', async (path, body, model, sentPath, sentBody) => {
    expect(await read(path, body)).toEqual([model, sentPath, sentBody])
  })
})

describe('formField', () => {
  const part = (name: string): string => `--b\r\nContent-Disposition: form-data; name=${name}\r\n\r\nv\r\n`
  it.each([
    ['the first part', part('model'), 'v'],
    ['after a preamble', `hello\r\n${part('model')}`, 'v'],
    ['the last part that is looked at', part('a').repeat(63) + part('model'), 'v'],
    ['a part too far', part('a').repeat(64) + part('model'), undefined],
    ['a name that only begins so', part('models'), undefined],
    ['a head without an end', '--b\r\nContent-Disposition: form-data; name=model', undefined],
    ['nothing', '', undefined],
  ])('%s', (_, text, expected) => {
    expect(formField(Buffer.from(text === '' ? text : `${text}--b--\r\n`), 'b', 'model')).toBe(expected)
  })
})
