// Facts about a call of an agent: versions 0.3 and 1.0 of the protocol, errors, and bodies without facts.
import { describe, expect, it } from 'vitest'
import { HeaderList } from '../message/headers.ts'
import { madeStream } from '../message/made-stream.ts'
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
    [
      'a compressed answer',
      [
        ['content-type', JSON_TYPE],
        ['content-encoding', 'gzip'],
      ] as const,
    ],
    ['another type', [['content-type', 'text/plain']] as const],
  ])('of %s contains no facts', (_, headers) => {
    const { exchange, facts } = called('{"method":"a"}')
    exchange.response = new HttpResponse(200, HeaderList.of(headers), Buffer.from('{"result":{}}'), false)
    if (facts === undefined) throw new Error('it is a call')
    observeAnswer(exchange, facts, LIMIT)
    expect(exchange.a2a).toMatchObject(UNKNOWN)
  })

  it.each<[string, string, number, object]>([
    ['a task', '{"task":{"contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}', 200, { outcome: 'success', resultKind: 'task', taskState: 'TASK_STATE_WORKING', contextId: 'c' }],
    ['a cancelled task', '{"id":"t","contextId":"c","status":{"state":"canceled"}}', 200, { outcome: 'success', resultKind: 'task', taskState: 'canceled', contextId: 'c' }],
    ['an error', '{"error":{"code":404}}', 404, { outcome: 'error', errorCode: 404 }],
    ['an error of another form', '{"type":"about:blank"}', 404, { outcome: 'error', errorCode: undefined }],
  ])('of the HTTP binding: %s', (_, body, status, wanted) => {
    const { exchange, facts } = called('{"message":{}}', 'application/a2a+json')
    const headers = HeaderList.of([['content-type', 'application/a2a+json']])
    exchange.response = new HttpResponse(status, headers, Buffer.from(body), false)
    if (facts === undefined) throw new Error('it is a call')
    observeAnswer(exchange, facts, LIMIT)
    expect(exchange.a2a).toMatchObject({ method: 'unknown', ...wanted })
  }) // prettier-ignore

  const status = (state: string) => ({ contextId: 'c', status: { state } })

  it.each<[string, readonly object[], object]>([
    [
      'version 0.3',
      [
        { result: { kind: 'task', ...status('submitted') } },
        { result: { kind: 'status-update', ...status('working') } },
        { result: { kind: 'artifact-update', contextId: 'c' } },
        { result: { kind: 'status-update', ...status('completed') } },
      ],
      { outcome: 'success', resultKind: 'task', taskState: 'completed', contextId: 'c' },
    ],
    [
      'version 1.0',
      [{ result: { statusUpdate: status('working') } }, { result: { task: status('completed') } }],
      { outcome: 'success', resultKind: 'task', taskState: 'completed', contextId: 'c' },
    ],
    [
      'the HTTP binding',
      [{ task: status('working') }, { statusUpdate: status('completed') }],
      { outcome: 'success', resultKind: 'task', taskState: 'completed', contextId: 'c' },
    ],
    ['a message', [{ result: { message: { contextId: 'c' } } }], { outcome: 'success', resultKind: 'message' }],
    [
      'an error at the end',
      [{ result: { task: status('working') } }, { error: { code: -32_001 } }],
      { outcome: 'error', errorCode: -32_001, resultKind: 'task', taskState: 'working' },
    ],
    [
      'an event that is larger than the buffer',
      [{ result: { task: status('working') } }, { result: { task: status('x'.repeat(LIMIT)) } }],
      { outcome: 'success', taskState: 'working' },
    ],
    ['no event', [], UNKNOWN],
  ])('of a stream of %s', async (_, events, wanted) => {
    const { exchange, facts } = called('{"method":"a"}')
    const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
    const body = madeStream(inPieces(text), () => {})
    exchange.response = new HttpResponse(200, HeaderList.of([['content-type', 'text/event-stream']]), body, false)
    if (facts === undefined) throw new Error('it is a call')
    observeAnswer(exchange, facts, LIMIT)
    const seen: Buffer[] = []
    for await (const chunk of exchange.response.body as AsyncIterable<Buffer>) seen.push(chunk) // a stream, as above
    expect(Buffer.concat(seen).toString()).toBe(text)
    expect(exchange.a2a).toMatchObject(wanted)
  })
})

/** Three bytes at once: no event comes in one piece. */
async function* inPieces(text: string): AsyncGenerator<Buffer> {
  for (let at = 0; at < text.length; at += 3) yield Buffer.from(text.slice(at, at + 3))
}
