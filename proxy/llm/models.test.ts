// Which backend a request for a model gets, which model is requested there, and the errors for clients.
import { describe, expect, it } from 'vitest'
import type { Authorization, OfferedModel } from '#api/ir/types.gen.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { exchangeOf, expression } from '../policy/exchange.testing.ts'
import { nameMatcher } from '#api/llm/model-names.ts'
import { compileModels } from './models.ts'

const only = (team: string): Authorization => ({
  action: 'Allow',
  matchExpressions: [`request.headers['x-team'] == '${team}'`],
})

interface Outcome {
  readonly exchange: Exchange
  readonly backend: string | undefined
  readonly body: unknown
}

/** Backends without a response. */
const REFUSED = new Set(['gone', 'gemini'])

async function ask(
  models: OfferedModel[],
  fields: object,
  team = 'none',
  path = '/v1/chat/completions',
  method = 'POST',
  query = '',
): Promise<Outcome> {
  let backend: string | undefined
  const handler = compileModels(
    { models },
    {
      expression,
      bufferBytesMax: 1000,
      isServed: (key) => !REFUSED.has(key),
      handlerOf: (key) => (exchange, done) => {
        backend = key
        done(exchange)
      },
    },
  )
  const exchange = exchangeOf({
    method,
    path,
    query,
    headers: [['x-team', team]],
    body: JSON.stringify(fields),
  })
  await new Promise<void>((resolve) => handler(exchange, () => resolve()))
  return { exchange, backend, body: jsonOf(exchange.request.body) }
}

function jsonOf(body: unknown): unknown {
  return JSON.parse(Buffer.isBuffer(body) ? body.toString('utf8') : typeof body === 'string' ? body : 'null')
}

function codeOf({ exchange: { response } }: Outcome): unknown {
  return [response?.status, jsonOf(response?.body)]
}

const error = (status: number, code: string) => [status, { error: { code, type: 'invalid_request_error' } }]

describe('nameMatcher', () => {
  it.each([
    ['*', 'anything', true],
    ['*', '', true],
    ['gpt-*', 'gpt-5', true],
    ['gpt-*', 'gpt-', true],
    ['gpt-*', 'a-gpt-5', false],
    ['*-latest', 'gpt-latest', true],
    ['*-latest', 'gpt-latest-1', false],
    ['gpt', 'gpt', true],
    ['gpt', 'GPT', false],
    ['gpt', 'gpt-5', false],
  ])('%s and %s: %s', (pattern, name, expected) => {
    expect(nameMatcher(pattern)(name)).toBe(expected)
  })
})

describe('concrete models', () => {
  const models: OfferedModel[] = [
    { name: 'gpt-*', backend: 'staff', authorization: [only('staff')] },
    { name: 'gpt-*', backend: 'all' },
    { name: 'gpt-5', backend: 'exact' },
    { name: 'hidden', backend: 'hidden', internal: true },
    { name: 'closed', backend: 'closed', authorization: [only('staff'), only('owner')] },
  ]

  it('selects the first model that matches and that the client may use, not the longest match', async () => {
    expect(await ask(models, { model: 'gpt-5' })).toMatchObject({ backend: 'all', body: { model: 'gpt-5' } })
    const staff = await ask(models, { model: 'gpt-5' }, 'staff')
    expect(staff).toMatchObject({ backend: 'staff', exchange: { backendName: 'staff' } })
    expect(staff.exchange.metadata).toEqual({ gw_user_model: 'gpt-5' })
  })

  it('rejects unknown, hidden and forbidden models, and calls no backend', async () => {
    const outcomes = await Promise.all(['other', 'hidden', 'closed'].map((model) => ask(models, { model })))
    expect(outcomes.map(({ backend }) => backend)).toEqual([undefined, undefined, undefined])
    expect(outcomes.map(codeOf)).toMatchObject([
      error(404, 'model_not_found'),
      error(404, 'model_not_found'),
      error(403, 'model_authorization_denied'),
    ])
  })

  it('checks every rule separately: one does not replace another', async () => {
    expect(codeOf(await ask(models, { model: 'closed' }, 'staff'))).toMatchObject(
      error(403, 'model_authorization_denied'),
    )
  })

  it('reports what is wrong with a request', async () => {
    expect(codeOf(await ask(models, {}))).toMatchObject(error(400, 'missing_model'))
    expect(codeOf(await ask(models, []))).toMatchObject(error(400, 'invalid_request_body'))
    expect(codeOf(await ask(models, { model: 'x'.repeat(1000) }))).toMatchObject(error(404, 'model_not_found'))
  })
})

describe('models with conditions on the request', () => {
  const team = (value: string) => [{ headers: [{ name: 'x-team', value: { exact: value } }] }]
  const models: OfferedModel[] = [
    { name: 'm', backend: 'a', matches: [...team('a'), ...team('b')] },
    { name: 'm', backend: 'c', matches: team('c') },
  ]

  it.each([
    ['a', 'a'],
    ['b', 'a'],
    ['c', 'c'],
  ])('get the requests of team %s', async (name, backend) => {
    expect(await ask(models, { model: 'm' }, name)).toMatchObject({ backend })
    const { response } = (await ask(models, {}, name, '/v1/models')).exchange
    expect(jsonOf(response?.body)).toMatchObject({ data: [{ id: 'm' }] })
  })

  it('do not exist for other requests', async () => {
    expect(codeOf(await ask(models, { model: 'm' }, 'd'))).toMatchObject(error(404, 'model_not_found'))
    expect(codeOf(await ask(models, {}, 'd', '/v1/models/m', 'GET'))).toMatchObject(error(404, 'model_not_found'))
    const { response } = (await ask(models, {}, 'd', '/v1/models')).exchange
    expect(jsonOf(response?.body)).toMatchObject({ data: [] })
  })
})

describe('a WebSocket', () => {
  const models: OfferedModel[] = [
    { name: 'talk', backend: 'a' },
    { name: 'chosen', weighted: [{ backend: 'a', model: 'real talk', weight: 1 }] },
    { name: 'closed', backend: 'a', authorization: [only('staff')] },
  ]

  async function open(query: string) {
    const outcome = await ask(models, {}, 'none', '/v1/realtime', 'GET', query)
    return { outcome, backend: outcome.backend, query: outcome.exchange.request.query }
  }

  it.each([
    ['model=talk', 'model=talk'],
    ['x=1&model=talk&model=closed', 'x=1&model=talk'],
    ['model=chosen&x=1', 'model=real+talk&x=1'],
  ])('has its model in the query: %s', async (query, sent) => {
    expect(await open(query)).toMatchObject({ backend: 'a', query: sent })
  })

  it('is rejected without a model, with an unknown one, and with one that the client may not use', async () => {
    const outcomes = await Promise.all(['x=1', 'model=', 'model=other', 'model=closed'].map(open))
    expect(outcomes.map(({ outcome }) => codeOf(outcome))).toMatchObject([
      error(400, 'missing_model'),
      error(400, 'missing_model'),
      error(404, 'model_not_found'),
      error(403, 'model_authorization_denied'),
    ])
    expect(outcomes.map(({ backend }) => backend)).toEqual([undefined, undefined, undefined, undefined])
  })
})

describe('virtual models', () => {
  const missing = { name: 'v', weighted: [{ weight: 1 }] }

  it('requests the model of the target', async () => {
    const models: OfferedModel[] = [{ name: 'v', weighted: [{ backend: 'a', model: 'real', weight: 1 }] }]
    const outcome = await ask(models, { model: 'v', n: 1 })
    expect(outcome).toMatchObject({ backend: 'a', body: { model: 'real', n: 1 } })
    expect(outcome.exchange.metadata).toEqual({ gw_user_model: 'v' })
  })

  it('follows the weights', async () => {
    const weighted = [
      { backend: 'a', model: 'a', weight: 0 },
      { backend: 'b', model: 'b', weight: 1 },
    ]
    expect(await ask([{ name: 'v', weighted }], { model: 'v' })).toMatchObject({ backend: 'b' })
  })

  it('selects the first target whose condition is true; a condition that fails is not', async () => {
    const conditional = [
      { backend: 'a', model: 'a', when: 'llmRequest.max_tokens > 10' },
      { backend: 'b', model: 'b', when: 'llmRequest.user == "b"' },
    ]
    const models: OfferedModel[] = [{ name: 'v', conditional }]
    expect(await ask(models, { model: 'v', max_tokens: 11, user: 'b' })).toMatchObject({ backend: 'a' })
    expect(await ask(models, { model: 'v', user: 'b' })).toMatchObject({ backend: 'b' })
    const none = await ask(models, { model: 'v', user: 'c' })
    expect(codeOf(none)).toMatchObject(error(400, 'virtual_model_no_matching_target'))
    expect(none.exchange.llmRequest).toBeUndefined()
  })

  it('applies the rules of the target', async () => {
    const weighted = [{ backend: 'a', model: 'a', weight: 1, authorization: [only('staff')] }]
    expect(codeOf(await ask([{ name: 'v', weighted }], { model: 'v' }))).toMatchObject(
      error(403, 'model_authorization_denied'),
    )
    expect(await ask([{ name: 'v', weighted }], { model: 'v' }, 'staff')).toMatchObject({ backend: 'a' })
  })

  it('distinguishes a missing target from no target', async () => {
    expect(codeOf(await ask([missing], { model: 'v' }))).toMatchObject(error(404, 'virtual_model_not_resolved'))
    const conditional = [{}, { backend: 'a', model: 'a' }]
    expect(codeOf(await ask([{ name: 'v', conditional }], { model: 'v' }))).toMatchObject(
      error(404, 'virtual_model_target_not_found'),
    )
  })
})

describe('the list of models', () => {
  it('contains the models that the client may use and that can be served', async () => {
    const models: OfferedModel[] = [
      { name: 'plain', backend: 'a' },
      { name: 'pattern-*', backend: 'a' },
      { name: 'hidden', backend: 'a', internal: true },
      { name: 'closed', backend: 'a', authorization: [only('staff')] },
      { name: 'broken', backend: 'gone' },
      { name: 'not-run', backend: 'gemini' },
      { name: 'weighted', weighted: [{ backend: 'gone' }, { backend: 'a' }] },
      { name: 'weighted-broken', weighted: [{ backend: 'gone' }, {}, { backend: 'a', weight: 0 }] },
      { name: 'conditional', conditional: [{ backend: 'gone' }, { backend: 'a', when: 'true' }] },
      { name: 'conditional-broken', conditional: [{}] },
      { name: 'nothing' },
    ]
    const { response } = (await ask(models, {}, 'none', '/v1/models')).exchange
    expect(jsonOf(response?.body)).toMatchObject({ data: [{ id: 'plain' }, { id: 'weighted' }, { id: 'conditional' }] })
  })
})

describe('a question about one model', () => {
  const models: OfferedModel[] = [
    { name: 'plain', backend: 'a', createdAt: 7 },
    { name: 'org/pattern-*', backend: 'a' },
    { name: 'hidden', backend: 'a', internal: true },
    { name: 'closed', backend: 'a', authorization: [only('staff')] },
    { name: 'broken', backend: 'gone' },
  ]
  const about = (path: string) => ask(models, {}, 'none', path, 'GET')

  it.each([
    ['/v1/models/plain', 'plain', 7],
    ['/models/plain', 'plain', 7],
    ['/v1/models/org%2Fpattern-1', 'org/pattern-1', 0],
    ['/v1/models/org/pattern-1', 'org/pattern-1', 0],
  ])('%s is answered', async (path, id, created) => {
    const { exchange, backend } = await about(path)
    expect([exchange.response?.status, backend]).toEqual([200, undefined])
    expect(jsonOf(exchange.response?.body)).toEqual({ id, object: 'model', created, owned_by: 'openai' })
  })

  it.each(['hidden', 'closed', 'broken', 'absent', 'org/pattern'])('%s is not found', async (name) => {
    expect(codeOf(await about(`/v1/models/${name}`))).toMatchObject(error(404, 'model_not_found'))
  })
})
