import { describe, expect, it } from 'vitest'
import { SecretString } from '#api/cel/values/secret-string.ts'
import { KEY_ENTRY } from '../exchange/client-name.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { LlmFacts } from '../exchange/facts.ts'
import { pricedAt } from '../llm/cost/priced.testing.ts'
import { emptyFacts } from '../llm/usage.ts'
import { MetricsAggregate } from './aggregate.ts'
import { createMetricsBuffer, SeriesTable } from './buffer.ts'
import { ClientSeries } from './client-series.ts'
import { createExposition } from './exposition.ts'
import { GEN_AI_CLIENT } from './internal-families.ts'
import { metricLabels } from './metric-labels.ts'

const LIMIT = 300
const LLM: LlmFacts = { ...emptyFacts('p'), inputTokens: 10, outputTokens: 4 }

interface Setup {
  readonly clients: ClientSeries
  readonly aggregate: MetricsAggregate
  /** Kind, name and counts of each client. */
  readonly rows: () => unknown[][]
}

function setUp(): Setup {
  const aggregate = new MetricsAggregate()
  const buffer = createMetricsBuffer()
  aggregate.attach(buffer)
  const rows = (): unknown[][] => {
    aggregate.refresh()
    return aggregate.series(GEN_AI_CLIENT).map(({ labels, totals }) => [...Object.values(labels), ...totals])
  }
  return { clients: new ClientSeries(new SeriesTable(buffer)), aggregate, rows }
}

/** `peer`: of a client certificate. */
function exchangeOf(attributes?: Record<string, unknown>, peer?: object): Exchange {
  return { attributes, connection: { peer } } as unknown as Exchange // what the series read
}

const KEY = new SecretString('key-of-ann')

describe('ClientSeries', () => {
  it.each([
    [
      'the name of an API key',
      exchangeOf({ apiKey: { name: 'ann', key: KEY, [KEY_ENTRY]: 'ns/keys/a' } }),
      'apiKey ann',
    ],
    [
      'the entry of a key without a name',
      exchangeOf({ apiKey: { key: KEY, [KEY_ENTRY]: 'ns/keys/a' } }),
      'apiKey ns/keys/a',
    ],
    ['the entry of a key whose name is not a text', exchangeOf({ apiKey: { name: 1n, [KEY_ENTRY]: 'e' } }), 'apiKey e'],
    ['never the key', exchangeOf({ apiKey: { name: KEY } }), 'apiKey '],
    ['the subject of a token', exchangeOf({ jwt: { sub: 'bob', name: 'Bob' } }), 'jwt bob'],
    ['a token without a subject', exchangeOf({ jwt: { sub: 7 } }), 'jwt '],
    ['a user', exchangeOf({ basicAuth: { username: 'eve' } }), 'basicAuth eve'],
    [
      'the SPIFFE ID of a certificate',
      exchangeOf(undefined, { spiffeId: 'spiffe://a', subject: 's' }),
      'certificate spiffe://a',
    ],
    ['the subject of a certificate', exchangeOf(undefined, { subject: 'CN=s' }), 'certificate CN=s'],
    ['the key before the certificate', exchangeOf({ apiKey: { name: 'ann' } }, { subject: 's' }), 'apiKey ann'],
    ['an unknown client', exchangeOf(), 'none '],
    ['at most 128 characters', exchangeOf({ jwt: { sub: 'x'.repeat(500) } }), `jwt ${'x'.repeat(128)}`],
  ])('has %s', (_, exchange, expected) => {
    const { clients, rows } = setUp()
    clients.add(exchange, LLM)
    expect(rows().map(([kind, name]) => `${String(kind)} ${String(name)}`)).toEqual([expected])
  })

  it('adds requests, tokens and cost, with transcriptions', () => {
    const { clients, rows } = setUp()
    const ann = exchangeOf({ apiKey: { name: 'ann' } })
    clients.add(ann, LLM)
    clients.add(ann, { ...LLM, pricing: pricedAt({ usd: { total: 0.25 } }) })
    clients.add(ann, { ...emptyFacts('p'), transcription: { facts: LLM, seconds: undefined } })
    expect(rows()).toEqual([['apiKey', 'ann', 3, 30, 12, 0.25]])
  })

  it('separates kinds with the same name', () => {
    const { clients, rows } = setUp()
    clients.add(exchangeOf({ apiKey: { name: 'ann' } }), LLM)
    clients.add(exchangeOf({ jwt: { sub: 'ann' } }), LLM)
    expect(rows()).toHaveLength(2)
  })

  it('counts clients beyond the limit together, which is no overflow of metrics', () => {
    const { clients, aggregate, rows } = setUp()
    for (let i = 0; i < LIMIT + 5; i++) clients.add(exchangeOf({ jwt: { sub: `user ${i}` } }), LLM)
    clients.add(exchangeOf({ jwt: { sub: 'user 7' } }), LLM)
    expect(rows()).toHaveLength(LIMIT + 1)
    expect(rows().find(([kind]) => kind === 'overflow')).toEqual(['overflow', 'overflow', 5, 50, 20, 0])
    expect(rows().find(([, name]) => name === 'user 7')?.[2]).toBe(2)
    expect(aggregate.overflows).toBe(0)
  })

  it('is not part of scrapes, and reserves no label', async () => {
    const { clients, aggregate } = setUp()
    clients.add(exchangeOf({ apiKey: { name: 'ann' } }), LLM)
    const exposition = createExposition(aggregate, [])
    for (const accept of [undefined, 'application/openmetrics-text; version=1.0.0']) {
      expect(String((await exposition.scrape(accept)).body)).not.toContain('ann')
    }
    const labels = metricLabels([{ name: 'client_name', value: () => 'x' }])
    expect(labels.values(exchangeOf())).toEqual(['client_name', 'x'])
  })
})
