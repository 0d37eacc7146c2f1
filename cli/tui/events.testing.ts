// The trace of a request that a policy rejects, for tests of the terminal view.
import type { TraceEvent } from '../trace/event-reader.ts'

const REQUEST = { method: 'GET', host: 'shop.example', path: '/admin', headers: { accept: '*/*', 'x-old': '1' } }

export const EVENTS: readonly TraceEvent[] = [
  event(500, 'info', { type: 'requestStarted' }),
  event(600, 'info', { type: 'requestSnapshot', stage: 'initial request', requestState: { request: REQUEST } }),
  event(3400, 'info', { type: 'routeSelection', selectedRoute: 'demo/shop', evaluatedRoutes: ['demo/shop'] }),
  event(6800, 'warn', { type: 'cel', expr: 'x-role == "admin"', result: { error: 'no header' } }),
  event(7000, 'info', {
    type: 'requestSnapshot',
    stage: 'authorization',
    requestState: { request: { ...REQUEST, path: '/', headers: { accept: '*/*', 'x-new': '2' } } },
  }),
  event(7800, 'error', { type: 'authorizationResult', result: 'deny', rules: [] }),
  event(9000, 'info', { type: 'bodySnapshot', stage: 'response', body: Buffer.from('{"a":1}').toString('base64') }),
  event(13_000, 'success', { type: 'requestFinished', status: 403, error: 'authorization failed' }),
]

function event(eventEnd: number, severity: TraceEvent['severity'], message: TraceEvent['message']): TraceEvent {
  return { eventStart: null, eventEnd, severity, message }
}
