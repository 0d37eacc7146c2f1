// The router answers as a naive one written from the rules: sort everything, try one after the other.
import * as fc from 'fast-check'
import { RE2JS } from 're2js'
import { expect, it } from 'vitest'
import type { RouteMatch, ValueMatch } from '#api/ir/types.gen.ts'
import { runs } from '#test/run/runs.ts'
import type { HttpRequest } from '../message/message.ts'
import { failedCondition } from './explain.ts'
import { requestOf } from './request.testing.ts'
import { buildRouter, type RouterEntry } from './router.ts'

type Entry = RouterEntry<number>

const hostname = fc.constantFrom('a.x.com', 'b.a.x.com', 'x.com', '*.x.com', '*.a.x.com', '*.com', 'y.org', '*')
const host = fc.constantFrom('a.x.com', 'B.A.x.com:80', 'x.com', 'c.x.com', 'z.b.a.x.com', 'y.org', 'q.net', 'com')
const segment = fc.constantFrom('a', 'b', 'ab', '')
const path = fc.array(segment, { maxLength: 4 }).map((segments) => `/${segments.join('/')}`)
const regex = fc.constantFrom('/a.*', '/[ab]+', '/a/b|/b', '/.*b', '.*', '/(', '/a?b?/?.*')
const valueMatch = fc.record({
  name: fc.constantFrom('h', 'i'),
  value: fc.oneof(
    fc.record({ exact: fc.constantFrom('1', '2') }),
    fc.record({ regex: fc.constantFrom('[12]', '1|22') }),
  ),
})
const match: fc.Arbitrary<RouteMatch> = fc.record(
  {
    path: fc.oneof(
      { weight: 3, arbitrary: fc.record({ exact: path }) },
      { weight: 4, arbitrary: fc.record({ pathPrefix: path }) },
      { weight: 2, arbitrary: fc.record({ regex }) },
    ),
    method: fc.constantFrom('GET', 'POST'),
    headers: fc.array(valueMatch, { maxLength: 2 }),
    query: fc.array(valueMatch, { maxLength: 2 }),
  },
  { requiredKeys: [] },
)
const entries: fc.Arbitrary<Entry[]> = fc
  .array(
    fc.record({
      hostnames: fc.array(hostname, { maxLength: 2 }),
      matches: fc.array(match, { maxLength: 3 }),
      order: fc.record({
        createdAt: fc.option(fc.integer({ min: 1, max: 2 }), { nil: undefined }),
        namespace: fc.constantFrom('n', 'm'),
        name: fc.constantFrom('r', 's'),
        ruleIndex: fc.integer({ min: 0, max: 2 }),
      }),
    }),
    { maxLength: 24 },
  )
  .map((list) => list.map((entry, value) => ({ ...entry, value })))
const fields = fc.array(fc.tuple(fc.constantFrom('h', 'i', 'j'), fc.constantFrom('1', '2', '22')), { maxLength: 3 })
const request = fc
  .record({ method: fc.constantFrom('GET', 'POST'), path, host, headers: fields, parameters: fields })
  .map(({ parameters, ...parts }) =>
    requestOf({ ...parts, query: parameters.map(([name, value]) => `${name}=${value}`).join('&') }),
  )

function naive(list: readonly Entry[], incoming: HttpRequest): number | undefined {
  const name = incoming.host.toLowerCase().replace(/:\d+$/, '')
  const levels = new Set<string>()
  for (const entry of list)
    for (const level of entry.hostnames.length === 0 ? ['*'] : entry.hostnames) levels.add(level)
  const ordered = [...levels].filter((level) => coversHost(level, name)).sort((a, b) => hostRank(b) - hostRank(a))
  for (const level of ordered) {
    const all = list
      .filter((entry) => (entry.hostnames.length === 0 ? ['*'] : entry.hostnames).includes(level))
      .flatMap((entry) => (entry.matches.length === 0 ? [{}] : entry.matches).map((m) => ({ m, entry })))
      .filter(({ m }) => matches(m, incoming))
      .sort((a, b) => compare(keyOf(a.m, a.entry), keyOf(b.m, b.entry)))
    if (all[0] !== undefined) return all[0].entry.value
  }
  return undefined
}

function coversHost(level: string, name: string): boolean {
  if (level === '*') return true
  return level.startsWith('*.') ? name.endsWith(level.slice(1)) && name.length > level.length - 1 : name === level
}

function hostRank(level: string): number {
  if (level === '*') return 0
  return level.startsWith('*.') ? level.length : 1000
}

const stripSlash = (text: string): string => (text.endsWith('/') ? text.slice(0, -1) : text)

function matches(m: RouteMatch, incoming: HttpRequest): boolean {
  return (
    matchesPath(m, incoming.path) &&
    (m.method === undefined || m.method === incoming.method) &&
    (m.headers ?? []).every((h) => incoming.headers.getAll(h.name).some((value) => matchesValue(h, value))) &&
    (m.query ?? []).every((q) => {
      const last = new URLSearchParams(incoming.query).getAll(q.name).at(-1)
      return last !== undefined && matchesValue(q, last)
    })
  )
}

function matchesPath(m: RouteMatch, text: string): boolean {
  if (m.path?.exact !== undefined) return m.path.exact === text
  if (m.path?.regex !== undefined) return matchesRegex(m.path.regex, text)
  const prefix = stripSlash(m.path?.pathPrefix ?? '/')
  return text === prefix || text.startsWith(`${prefix}/`)
}

function matchesValue(wanted: ValueMatch, value: string): boolean {
  return wanted.value.exact === undefined ? matchesRegex(wanted.value.regex ?? '', value) : wanted.value.exact === value
}

function matchesRegex(source: string, text: string): boolean {
  try {
    return RE2JS.matches(source, text)
  } catch {
    return false
  }
}

/** Smaller is better, member by member. */
function keyOf(m: RouteMatch, entry: Entry): (number | string)[] {
  const { order } = entry
  return [
    ...pathKey(m),
    m.method === undefined ? 1 : 0,
    -(m.headers ?? []).length,
    -(m.query ?? []).length,
    order.createdAt ?? 1e9,
    `${order.namespace}/${order.name}`,
    order.ruleIndex,
    entry.value,
  ]
}

function pathKey({ path: p }: RouteMatch): number[] {
  if (p?.exact !== undefined) return [0, 0]
  if (p?.regex !== undefined) return [2, -p.regex.length]
  return [1, -stripSlash(p?.pathPrefix ?? '/').length]
}

function compare(a: readonly (number | string)[], b: readonly (number | string)[]): number {
  for (const [i, left] of a.entries()) {
    const right = b[i] ?? 0
    if (left !== right) return left < right ? -1 : 1
  }
  return 0
}

it('finds what a naive router finds', () => {
  fc.assert(
    fc.property(entries, fc.array(request, { minLength: 1, maxLength: 8 }), (list, requests) => {
      const router = buildRouter(list)
      for (const incoming of requests) expect(router.find(incoming)?.value).toBe(naive(list, incoming))
    }),
    { numRuns: runs(1500) },
  )
})

it('explains the rule that it finds: the first candidate without a failed condition', () => {
  fc.assert(
    fc.property(entries, fc.array(request, { minLength: 1, maxLength: 8 }), (list, requests) => {
      const router = buildRouter(list)
      for (const incoming of requests) {
        const first = router.candidates(incoming).find(({ match: one }) => failedCondition(one, incoming) === undefined)
        expect(first?.value).toBe(router.find(incoming)?.value)
      }
    }),
    { numRuns: runs(1500) },
  )
})
