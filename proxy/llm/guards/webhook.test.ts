// The guard `webhook`: its requests, the three actions, forwarded and added header fields, and every failure.
import { afterEach, describe, expect, it } from 'vitest'
import type { GuardWebhook } from '#api/ir/types.gen.ts'
import { ServiceError } from '../../chain/service.ts'
import { HeaderList } from '../../message/headers.ts'
import { expression } from '../../policy/exchange.testing.ts'
import { ANSWER_BYTES_MAX, QUESTION_BYTES_MAX } from './external.ts'
import { guardTestService, textsOf, type GuardTestService, type ServiceReply } from './services.testing.ts'
import { webhook } from './webhook.ts'

let open: GuardTestService | undefined
afterEach(() => open?.close())

const settings: GuardWebhook = { service: { backend: 'ns/guard' }, failureMode: 'FailClosed' }

async function guardWith(reply: ServiceReply, more: Partial<GuardWebhook> = {}, timeoutMs?: number) {
  open = await guardTestService(() => reply, timeoutMs === undefined ? {} : { timeoutMs })
  return webhook({ ...settings, ...more }, { expression, ...open.environment })
}

const action = (json: unknown): ServiceReply => ({ body: { action: json } })
const PASSING = action({ reason: 'fine' })

describe('the request of the webhook', () => {
  it('has the messages of a request', async () => {
    const guard = await guardWith(PASSING)
    expect(await guard.check(textsOf([['system', 'Be brief.'], 'hi', '']))).toEqual({ kind: 'pass' })
    expect(open?.received).toMatchObject([{ method: 'POST', target: '/request' }])
    expect(open?.received[0]?.bytes.toString()).toBe(
      '{"body":{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"hi"},' +
        '{"role":"user","content":""}]}}',
    )
    expect(open?.received[0]?.headers).toMatchObject({ 'content-type': 'application/json', host: 'service.test' })
  })

  it('has the choices of a response', async () => {
    const guard = await guardWith(PASSING)
    await guard.check(
      textsOf(
        [
          ['assistant', 'a'],
          ['assistant', 'b'],
        ],
        { phase: 'Response' },
      ),
    )
    expect(open?.received).toMatchObject([{ method: 'POST', target: '/response' }])
    expect(open?.received[0]?.bytes.toString()).toBe(
      '{"body":{"choices":[{"message":{"role":"assistant","content":"a"}},{"message":{"role":"assistant","content":"b"}}]}}',
    )
  })

  const client = [
    ['x-tenant', 'blue'],
    ['x-tenant', 'green'],
    ['x-other', 'blue'],
    ['authorization', 'Bearer provider-key'],
    ['content-length', '999'],
    ['content-type', 'text/plain'],
    ['content-encoding', 'gzip'],
    ['accept-encoding', 'gzip'],
    ['transfer-encoding', 'chunked'],
    ['te', 'trailers'],
  ] as const
  const all = client.map(([name]) => ({ name, value: { regex: '.*' } }))

  it('has all values of a field if one of them matches as a whole', async () => {
    const guard = await guardWith(PASSING, {
      forwardHeaderMatches: [
        { name: 'X-Tenant', value: { exact: 'green' } },
        { name: 'x-tenant', value: { exact: 'blue' } },
        { name: 'x-other', value: { regex: 'bl' } },
      ],
    })
    await guard.check(textsOf(['hi'], { headers: client }))
    expect(open?.received[0]?.headers['x-tenant']).toBe('blue, green')
    expect(open?.received[0]?.headers).not.toHaveProperty('x-other')
  })

  it('has no field of the body or of the connection of the client, and no credential of the provider', async () => {
    const guard = await guardWith(PASSING, { forwardHeaderMatches: all })
    const texts = textsOf(['hi'], { headers: client })
    texts.exchange.request.hideFields(['authorization'])
    await guard.check(texts)
    const { headers, bytes } = open?.received[0] ?? {}
    expect(headers).toMatchObject({
      'x-tenant': 'blue, green',
      'x-other': 'blue',
      'content-type': 'application/json',
      'content-length': String(bytes?.length),
      'accept-encoding': 'identity',
    })
    for (const name of ['authorization', 'content-encoding', 'transfer-encoding', 'te']) {
      expect(headers).not.toHaveProperty(name)
    }
  })

  it('has fields of the provider for a response, and none of the client', async () => {
    const guard = await guardWith(PASSING, {
      forwardHeaderMatches: [...all, { name: 'x-model', value: { exact: 'm' } }],
    })
    const upstreamHeaders = HeaderList.of([['x-model', 'm']])
    await guard.check(textsOf(['hi'], { phase: 'Response', headers: client, upstreamHeaders }))
    expect(open?.received[0]?.headers).toMatchObject({ 'x-model': 'm' })
    expect(open?.received[0]?.headers).not.toHaveProperty('x-tenant')
  })

  it('has the fields of expressions, which also replace method, path and authority', async () => {
    const named = (name: string, text: string) => ({ name, expression: text })
    const guard = await guardWith(PASSING, {
      forwardHeaderMatches: all,
      headers: [
        named('X-User', 'request.headers["x-other"] + "-1"'),
        named('x-other', '"replaced"'),
        named('x-tenant', 'request.headers["missing"]'),
        named('content-length', '"1"'),
        named('content-type', '"text/plain"'),
        named(':path', '"/v2" + request.path + "?a=1"'),
        named(':method', '"PUT"'),
        named(':authority', '"guard.example"'),
      ],
    })
    await guard.check(textsOf(['hi'], { path: '/chat', headers: client }))
    expect(open?.received).toMatchObject([{ method: 'PUT', target: '/v2/chat?a=1' }])
    const { headers } = open?.received[0] ?? {}
    expect(headers).toMatchObject({
      'x-user': 'blue-1',
      'x-other': 'replaced',
      host: 'guard.example',
      'content-type': 'application/json',
    })
    expect(headers).not.toHaveProperty('x-tenant')
  })

  it('keeps method, path and authority if their expressions fail', async () => {
    const guard = await guardWith(PASSING, {
      headers: [':path', ':method', ':authority'].map((name) => ({ name, expression: 'request.headers["missing"]' })),
    })
    await guard.check(textsOf(['hi']))
    expect(open?.received).toMatchObject([{ method: 'POST', target: '/request', headers: { host: 'service.test' } }])
  })
})

describe('the answer of the webhook', () => {
  it.each([[{}], [{ reason: 'fine' }], [{ other: 1 }], [{ body: null, status_code: null }]])(
    'passes on %j',
    async (json) => {
      const guard = await guardWith(action(json))
      expect(await guard.check(textsOf(['hi']))).toEqual({ kind: 'pass' })
    },
  )

  it('replaces texts in their order', async () => {
    const messages = [{ role: 'user', content: 'x' }, { content: '' }]
    const guard = await guardWith(action({ body: { messages }, reason: 'masked' }))
    expect(await guard.check(textsOf(['a', 'b']))).toEqual({ kind: 'mask', texts: ['x', ''], matched: [] })
  })

  it('replaces texts of a response', async () => {
    const guard = await guardWith(action({ body: { choices: [{ message: { content: 'x' } }] } }))
    expect(await guard.check(textsOf(['a'], { phase: 'Response' }))).toEqual({
      kind: 'mask',
      texts: ['x'],
      matched: [],
    })
  })

  it.each([200, 451, 599])('rejects with its body and the status %i', async (status) => {
    const guard = await guardWith(action({ body: 'no', status_code: status, reason: 'r' }))
    const rejection = { status, body: 'no' }
    expect(await guard.check(textsOf(['a']))).toEqual({ kind: 'reject', rejection, matched: [] })
  })

  it('counts whatever its status is', async () => {
    const guard = await guardWith({ ...action({ body: 'no', status_code: 403 }), status: 500 })
    expect(await guard.check(textsOf(['a']))).toMatchObject({ kind: 'reject' })
  })

  const noAction = 'the answer of the webhook has no action'
  const badMask = 'the mask of the webhook does not have 2 messages with content'
  const badStatus = 'the rejection of the webhook has no valid status_code'
  it.each<[name: string, reply: ServiceReply, message: string]>([
    ['no JSON object', { body: '[]' }, 'the answer is not a JSON object (status 200)'],
    ['an empty body', { body: '' }, 'the answer is not a JSON object (status 200)'],
    ['an error page', { status: 500, body: { error: 'hi' } }, noAction],
    ['an action that is a text', action('pass'), noAction],
    ['an action that is a list', action([]), noAction],
    ['an action that is null', action(null), noAction],
    ['a mask with fewer texts', action({ body: { messages: [{ content: 'x' }] } }), badMask],
    ['a mask with more texts', action({ body: { messages: [1, 2, 3].map(() => ({ content: 'x' })) } }), badMask],
    ['a mask without a text', action({ body: { messages: [{ content: 'x' }, { role: 'user' }] } }), badMask],
    [
      'a mask of a response',
      action({ body: { choices: [{ message: { content: 'x' } }, { message: { content: 'y' } }] } }),
      badMask,
    ],
    ['a mask of an unknown kind', action({ body: {} }), badMask],
    ['a rejection without a status', action({ body: 'no' }), badStatus],
    ['a rejection with an invalid status', action({ body: 'no', status_code: 700 }), badStatus],
    ['a rejection with the status as a text', action({ body: 'no', status_code: '403' }), badStatus],
    ['a status without a body', action({ status_code: 403 }), badMask],
  ])('is a failure: %s', async (_, reply, message) => {
    const guard = await guardWith(reply)
    await expect(guard.check(textsOf(['hi', 'planted-text']))).rejects.toThrow(new ServiceError(message))
  })
})

describe('the limits of the webhook', () => {
  it('has 10 seconds to answer by default', async () => {
    await guardWith(PASSING)
    expect(open?.service.caller.answerMs).toBe(10_000)
  })

  it('fails if the webhook stays silent', async () => {
    const guard = await guardWith({ body: undefined }, {}, 50)
    await expect(guard.check(textsOf(['hi']))).rejects.toThrow(ServiceError)
  })

  it('fails if the webhook cannot be reached', async () => {
    const guard = await guardWith(PASSING)
    open?.close()
    await expect(guard.check(textsOf(['hi']))).rejects.toThrow(ServiceError)
  })

  it('fails without a call if the texts are too large', async () => {
    const guard = await guardWith(PASSING)
    await expect(guard.check(textsOf(['x'.repeat(QUESTION_BYTES_MAX)]))).rejects.toThrow('the texts are larger than')
    expect(open?.received).toEqual([])
  })

  it('fails if the answer is too large', async () => {
    const guard = await guardWith(action({ reason: 'x'.repeat(ANSWER_BYTES_MAX) }))
    await expect(guard.check(textsOf(['hi']))).rejects.toThrow('the response is larger than')
  })

  it('has the failure mode of its settings', async () => {
    expect((await guardWith(PASSING, { failureMode: 'FailOpen' })).failureMode).toBe('FailOpen')
  })
})
