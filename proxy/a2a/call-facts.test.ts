// Facts about a call of an agent: versions 0.3 and 1.0 of the protocol, errors, and bodies without facts.
import { describe, expect, it } from 'vitest'
import { HeaderList } from '../message/headers.ts'
import { HttpResponse } from '../message/message.ts'
import { exchangeOf } from '../policy/exchange.testing.ts'
import { observeAnswer, observeCall } from './call-facts.ts'

const LIMIT = 100
const JSON_TYPE = 'application/json; charset=utf-8'

function called(body: string | undefined, type = JSON_TYPE, method = 'POST') {
  const headers = [['content-type', type]] as const
  const exchange = exchangeOf({ method, headers, ...(body !== undefined && { body }) })
  return { exchange, facts: observeCall(exchange, LIMIT) }
}

const UNKNOWN = { outcome: undefined, errorCode: undefined, resultKind: undefined }

describe('observeCall', () => {
  it.each([
    ['the method', '{"method":"message/send"}', 'message/send'],
    ['no method', '{}', 'unknown'],
    ['an invalid method', '{"method":7}', 'unknown'],
    ['a list', '[{"method":"a"}]', 'unknown'],
    ['no JSON', 'method', 'unknown'],
    ['nothing', undefined, 'unknown'],
    ['as much as the buffer takes', `{"method":"a"}${' '.repeat(LIMIT - 14)}`, 'a'],
    ['more than the buffer takes', `{"method":"a"}${' '.repeat(LIMIT - 13)}`, 'unknown'],
  ])('%s', (_, body, method) => {
    expect(called(body).facts).toMatchObject({ method, ...UNKNOWN })
  })

  it.each([
    ['another content type', 'text/json', 'POST'],
    ['another method', JSON_TYPE, 'GET'],
  ])('%s is not a call', (_, type, method) => {
    const { exchange, facts } = called('{"method":"a"}', type, method)
    expect(facts).toBeUndefined()
    expect(exchange.a2a).toBeUndefined()
  })
})

describe('observeAnswer', () => {
  const task = { contextId: 'c', status: { state: 'working' } }

  it.each<[string, string, object]>([
    ['a task of version 0.3', JSON.stringify({ result: { kind: 'task', ...task } }), { outcome: 'success', resultKind: 'task', taskState: 'working', contextId: 'c' }],
    ['a task of version 1.0', JSON.stringify({ result: { task } }), { outcome: 'success', resultKind: 'task', taskState: 'working', contextId: 'c' }],
    ['a message of version 1.0', '{"result":{"message":{"contextId":"c"}}}', { outcome: 'success', resultKind: 'message', contextId: 'c', taskState: undefined }],
    ['a result of another kind', '{"result":{}}', { outcome: 'success', resultKind: undefined }],
    ['an error', '{"error":{"code":-32001}}', { outcome: 'error', errorCode: -32001 }],
    ['neither', '{"id":1}', { outcome: 'unknown' }],
    ['no object', '7', { outcome: 'unknown' }],
    ['more than the buffer takes', `{"result":{}}${' '.repeat(LIMIT)}`, UNKNOWN],
  ])('%s', (_, body, wanted) => {
    const { exchange, facts } = called('{"method":"a"}')
    exchange.response = new HttpResponse(200, HeaderList.of([['content-type', JSON_TYPE]]), Buffer.from(body), false)
    if (facts === undefined) throw new Error('it is a call')
    observeAnswer(exchange, facts, LIMIT)
    expect(exchange.a2a).toMatchObject(wanted)
    expect(exchange.response.body).toEqual(Buffer.from(body))
  }) // prettier-ignore

  it.each([
    ['an event stream', [['content-type', 'text/event-stream']] as const],
    [
      'a compressed answer',
      [
        ['content-type', JSON_TYPE],
        ['content-encoding', 'gzip'],
      ] as const,
    ],
  ])('of %s contains no facts', (_, headers) => {
    const { exchange, facts } = called('{"method":"a"}')
    exchange.response = new HttpResponse(200, HeaderList.of(headers), Buffer.from('{"result":{}}'), false)
    if (facts === undefined) throw new Error('it is a call')
    observeAnswer(exchange, facts, LIMIT)
    expect(exchange.a2a).toMatchObject(UNKNOWN)
  })
})
