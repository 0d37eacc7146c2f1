import { givenName } from './given-names.ts'
import { describe, expect, it } from 'vitest'
import { configDump } from '#proxy/admin/config-dump.ts'
import { emptyConfig } from '#api/ir/empty.ts'
import { BACKEND_HEAD, cellsOf, endpointRows, WIDE_HEAD, wideCellsOf, type Dump } from './backends.ts'
import { summaryOf } from './summary.ts'
import { table } from './table.ts'

const info = (parts: object = {}): object => ({
  info: {
    health: 1,
    requestLatency: 0.0123456,
    pendingRequests: 0,
    totalRequests: 3,
    consecutiveFailures: 0,
    timesEjected: 0,
    evictions: 0,
    lastEviction: null,
    evictedUntil: null,
    ...parts,
  },
})

function dumpOf(parts: { services?: unknown; backends?: unknown }): Dump {
  const empty = configDump({
    config: emptyConfig(),
    figures: () => undefined,
    certificates: [],
    credentials: [],
    listenAddress: '::',
    place: {},
    version: {},
    settings: {},
  })
  return { ...empty, ...parts } as Dump // tests write only the parts that rows use
}

const DUMP = dumpOf({
  services: [
    {
      name: 'web',
      namespace: 'shop',
      endpoints: [
        {
          active: { 'k8s/Pod/shop/web-b': info(), 'shop/web-a': info({ health: 0.5 }) },
          rejected: { 'shop/web-c': {} },
        },
      ],
    },
  ],
  backends: [
    { backend: { host: { name: 'echo', namespace: 'shop', target: '127.0.0.1:80', ...info({ totalRequests: 0 }) } } },
    {
      backend: {
        ai: {
          name: 'llm',
          namespace: 'shop',
          target: {
            providers: [
              {
                active: { first: { endpoint: {}, ...info({ evictedUntil: '1970-01-01T00:00:05.000Z' }) } },
                rejected: {},
              },
            ],
          },
        },
      },
    },
  ],
})

describe('endpoints of a dump', () => {
  it('has the figures of Services and backends in a wide table', () => {
    const lastEviction = { time: '1970-01-01T00:00:00.000Z', rule: 'failure', failures: 1, status: 503 }
    const figures = info({ pendingRequests: 2, consecutiveFailures: 3, timesEjected: 1, evictions: 4, lastEviction })
    const dump = dumpOf({
      services: [{ name: 'web', namespace: 'shop', endpoints: [{ active: { 'shop/a': figures }, rejected: {} }] }],
      backends: [{ backend: { host: { name: 'echo', namespace: 'shop', target: '127.0.0.1:80', ...figures } } }],
    })
    expect(WIDE_HEAD.slice(7)).toEqual(['PENDING', 'FAILURES', 'CONNECTIONS', 'EVICTIONS', 'LAST EVICTION'])
    for (const row of endpointRows(dump, true)) {
      expect(wideCellsOf(row, 60_000, '1, 1 idle').slice(7)).toEqual([
        '2',
        '3',
        '1, 1 idle',
        '4',
        '60s ago: status 503',
      ])
    }
    expect(endpointRows(dump, true)).toHaveLength(2)
  })

  it('are sorted rows of the used endpoints', () => {
    const rows = endpointRows(DUMP, false).map((row) => cellsOf(row, 1800))
    expect(table(BACKEND_HEAD, rows)).toBe(
      [
        'TYPE     NAME  NAMESPACE  ENDPOINT  HEALTH        REQUESTS  LATENCY',
        'Backend  llm   shop       first     Evict (3.2s)         3  12.35ms',
        'Service  web   shop       web-a     0.50                 3  12.35ms',
        'Service  web   shop       web-b     1.00                 3  12.35ms',
        '',
      ].join('\n'),
    )
  })

  it('include unused ones with `all`', () => {
    const rows = endpointRows(DUMP, true).map((row) => cellsOf(row, 9000))
    expect(rows.map((cells) => [cells[3], cells[4], cells[6]])).toEqual([
      ['127.0.0.1:80', '1.00', ''],
      ['first', 'evicted', '12.35ms'],
      ['web-a', '0.50', '12.35ms'],
      ['web-b', '1.00', '12.35ms'],
      ['web-c', '1.00', ''],
    ])
  })
})

describe('names', () => {
  it.each([
    ['echo', undefined, 'echo'],
    ['gateway/default/default/inline/backend0', undefined, 'inline/backend0'],
    ['gateway/default/default/inline/backend1', 'tools', 'inline/backend1/tools'],
    ['default/default/bind/9001/listener0/tcp/0003/default/tcpRoute3/backend0', undefined, 'tcpRoute3/backend0'],
    ['mcp:default', 'x', 'mcp/x'],
    ['mcp:default', undefined, 'mcp'],
  ])('%s %s is %s, as in the file', (name, section, expected) => {
    expect(givenName(name, section)).toBe(expected)
  })
})

describe('tables', () => {
  it('escape control characters in names', () => {
    expect(table(['A'], [['x\u001b[31m\n']])).toBe('A\nx\\x1b[31m\\n\n')
  })

  it('of an empty configuration have only heads', () => {
    expect(summaryOf(dumpOf({})).split('\n')).toHaveLength(8)
  })
})
