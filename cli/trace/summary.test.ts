import { describe, expect, it } from 'vitest'
import type { TraceEvent } from './event-reader.ts'
import { labelOf, summaryOf } from './summary.ts'

const event = (message: object, scope?: string[]): TraceEvent => ({
  eventStart: null,
  eventEnd: 1,
  severity: 'info',
  ...(scope && { scope }),
  // Tests also use messages of other versions.
  message: message as TraceEvent['message'],
})

describe('summaryOf', () => {
  it.each<[object, string, string]>([
    [{ type: 'requestStarted' }, 'Request Start', 'request started'],
    [{ type: 'requestSnapshot', stage: 'initial request' }, 'Snapshot', 'initial request'],
    [{ type: 'responseSnapshot', stage: 'raw response' }, 'Snapshot', 'raw response'],
    [{ type: 'routeSelection', selectedRoute: 'k', evaluatedRoutes: ['a', 'k'] }, 'Route', 'selected k (2 evaluated)'],
    [
      { type: 'routeSelection', selectedRoute: 'k', rule: 'r', evaluatedRoutes: [] },
      'Route',
      'selected k (0 evaluated): rule r',
    ],
    [
      { type: 'policySelection', phase: 'gateway', gateway: 'ns/g', listener: 'l', effectivePolicy: {} },
      'Policies',
      'gateway effective policies: none; listener l of ns/g',
    ],
    [
      {
        type: 'policySelection',
        phase: 'route',
        effectivePolicy: { cors: {}, csrf: {}, authorization: [] },
        sources: { cors: ['traffic/a/p:cors:a/r'], csrf: ['route/a/r.00.l'], authorization: ['a/q:x:y', 'a/s:x:y'] },
      },
      'Policies',
      'route effective policies: cors (a/p), csrf, authorization (a/q, a/s)',
    ],
    [
      { type: 'policySelection', phase: 'backend', backend: 'ns/b', effectivePolicy: {} },
      'Policies',
      'backend effective policies: none; backend ns/b',
    ],
    [{ type: 'routeSelection', evaluatedRoutes: [] }, 'Route', 'no route selected (0 evaluated)'],
    [
      { type: 'policySelection', phase: 'subBackend', effectivePolicy: { auth: {}, tls: {} } },
      'Policies',
      'sub-backend effective policies: auth, tls',
    ],
    [{ type: 'policySelection', phase: 'route', effectivePolicy: {} }, 'Policies', 'route effective policies: none'],
    [{ type: 'policy', kind: 'cors', result: { type: 'apply', details: 'applied' } }, 'Policy', 'cors: applied'],
    [
      { type: 'policy', kind: 'cors', result: { type: 'skip', reason: 'no origin' } },
      'Policy',
      'cors skipped: no origin',
    ],
    [{ type: 'policyEvent', kind: 'cors', details: 'd' }, 'Policy Event', 'cors: d'],
    [{ type: 'cel', expr: '1 + 1', result: { value: 2 } }, 'CEL', '1 + 1 => 2'],
    [{ type: 'cel', expr: 'x', result: { error: 'no such key' } }, 'CEL', 'x => error: no such key'],
    [
      {
        type: 'authorizationResult',
        result: 'deny',
        rules: [
          { name: 'a', matched: true, mode: 'deny' },
          { name: 'b', matched: false, mode: 'allow' },
        ],
      },
      'Authz',
      'denied (0 allow, 1 deny, 0 require matches)',
    ],
    [{ type: 'backendCallStart', target: 'a:1' }, 'Backend Start', 'a:1'],
    [{ type: 'backendCallResult', target: 'a:1', status: 200, error: null }, 'Backend Result', 'a:1 status=200'],
    [{ type: 'backendCallResult', target: 'a:1', error: 'refused' }, 'Backend Result', 'a:1 error=refused'],
    [{ type: 'bodySnapshot', stage: 'response', body: 'YWJj', truncated: true }, 'Body', 'response, 3 bytes and more'],
    [{ type: 'llmRouteResolved', routeType: 'Completions', provider: 'p' }, 'LLM Route', 'Completions to p'],
    [
      { type: 'llmRequestDetected', inputFormat: 'A', outputFormat: 'B', model: 'm', streaming: true },
      'LLM Request',
      'A => B model=m streaming=true',
    ],
    [{ type: 'llmStreamingTranslation', from: 'A', to: 'B' }, 'LLM Stream', 'A => B'],
    [
      { type: 'llmUsage', inputTokens: 5, outputTokens: 2, cost: 0.0015, costStatus: 'Exact' },
      'LLM Usage',
      '5 input tokens, 2 output tokens, 0.0015 USD',
    ],
    [
      { type: 'llmUsage', inputTokens: 5, costStatus: 'NoCatalog' },
      'LLM Usage',
      '5 input tokens, 0 output tokens, no price (NoCatalog)',
    ],
    [{ type: 'requestFinished', status: 200, error: null }, 'Request Done', 'request finished status=200'],
    [{ type: 'fromTheFuture', x: 1 }, 'fromTheFuture', '{"type":"fromTheFuture","x":1}'],
  ])('%j', (message, label, summary) => {
    expect([labelOf(event(message)), summaryOf(event(message))]).toEqual([label, summary])
  })

  it('puts the scope before the summary', () => {
    expect(summaryOf(event({ type: 'backendCallStart', target: 'a:1' }, ['mcp', 'one']))).toBe('mcp > one: a:1')
  })

  it('limits it to 160 characters', () => {
    const of = (length: number): string => summaryOf(event({ type: 'requestSnapshot', stage: 'x'.repeat(length) }))
    expect(of(160)).toBe('x'.repeat(160))
    expect(of(161)).toBe(`${'x'.repeat(159)}…`)
  })

  it('escapes control characters', () => {
    const summary = summaryOf(event({ type: 'cel', expr: '\u001b[2J\r\n\u009b\u202e', result: { value: '\u007f' } }))
    expect(summary).toBe(String.raw`\x1b[2J\r\n\x9b\u202e => \x7f`)
  })
})
