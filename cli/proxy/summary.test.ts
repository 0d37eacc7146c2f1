import { describe, expect, it } from 'vitest'
import { configDump } from '#proxy/admin/config-dump.ts'
import type { Dump } from './backends.ts'
import { routesTable, summaryOf } from './summary.ts'

function dumpWith(credentials: Dump['credentials']): Dump {
  return configDump({
    config: undefined,
    figures: () => undefined,
    certificates: [],
    credentials,
    listenAddress: '::',
    place: {},
    version: {},
    settings: {},
  })
}

describe('the summary of a dump', () => {
  it('has the credentials that the proxy fetched, with the error of those that fail now', () => {
    const error = { time: '2026-01-01T00:00:00.000Z', reason: 'Unavailable', message: 'connect timeout' } as const
    const [kind, owner] = ['cloudB', 'ns/azure/clientSecret'] as const
    const text = summaryOf(
      dumpWith([
        { kind, owner, usedBy: ['ns/policy'], tokens: 1, firstExpiry: error.time, failuresInRow: 0, lastError: error },
        { kind: 'cloudC', owner: 'environment', usedBy: [], tokens: 0, failuresInRow: 2, lastError: error },
      ]),
    )
    expect(text.split('\n').slice(-4)).toEqual([
      'CREDENTIAL  OWNER                  USED BY    VALID  FIRST EXPIRY              ERROR',
      'cloudB      ns/azure/clientSecret  ns/policy      1  2026-01-01T00:00:00.000Z  -',
      'cloudC      environment            -              0  -                         connect timeout',
      '',
    ])
  })

  it('has no such table without credentials, also of an older proxy', () => {
    const { credentials: _, ...older } = dumpWith([])
    // What an older proxy answers with.
    for (const dump of [dumpWith([]), older as Dump]) expect(summaryOf(dump)).not.toContain('CREDENTIAL')
  })
})

describe('a wide table of routes', () => {
  it.each([
    [[{ path: { exact: '/a' } }], '/a'],
    [[{ path: { pathPrefix: '/' } }, { path: { pathPrefix: '/a' }, method: 'GET' }], '/*, GET /a/*'],
    [[{ path: { regex: '/a+' }, headers: [{ name: 'x-a' }, { name: 'x-b' }] }], '~/a+ header:x-a header:x-b'],
    [[{ query: [{ name: 'page' }] }], 'query:page'],
    [undefined, ''],
  ])('has the matches %j as %s', (matches, text) => {
    const route = { key: 'a', name: 'a', namespace: 'ns', matches, inlinePolicies: { csrf: {}, cors: {} } }
    const listeners = { http: { listenerName: 'http', routes: { a: route }, tcpRoutes: {} } }
    // Only the fields that tables of routes read.
    const dump = { binds: [{ key: 'b', address: ':80', listeners }] } as unknown as Dump
    const [, line = ''] = routesTable(dump, true).split('\n')
    expect(line.split(/ {2,}/)).toEqual(['a', 'ns', 'http', '*', ...(text === '' ? [] : [text]), 'csrf,cors'])
  })
})
