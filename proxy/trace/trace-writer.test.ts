import { describe, expect, it } from 'vitest'
import { CredentialNames } from '../log/credential-names.ts'
import { Redactor } from './redactor.ts'
import { severityOf, TraceWriter, type TraceEvent } from './trace-writer.ts'

function writer(): { writer: TraceWriter; events: TraceEvent[]; ends: () => number } {
  const events: TraceEvent[] = []
  let ends = 0
  return {
    writer: new TraceWriter({
      sink: { event: (json) => events.push(JSON.parse(json)), end: () => ends++ },
      originMs: performance.now(),
      redactor: new Redactor(new CredentialNames()),
    }),
    events,
    ends: () => ends,
  }
}

describe('TraceWriter', () => {
  it('leaves out a scope that is empty, and nothing follows the end', () => {
    const { writer: own, events, ends } = writer()
    own.write({ type: 'requestStarted' }, { scope: [] })
    own.write({ type: 'backendCallStart' }, { scope: ['mirror'] })
    own.end({ type: 'requestFinished' }, { severity: 'success' })
    own.end({ type: 'requestFinished' }, { severity: 'success' })
    own.write({ type: 'requestStarted' })
    expect(events.map(({ scope }) => scope)).toEqual([undefined, ['mirror'], undefined])
    expect(ends()).toBe(1)
  })

  it('counts from the start, never below it', () => {
    const { writer: own, events } = writer()
    own.write({ type: 'requestStarted' }, { startMs: performance.now() - 5000 })
    expect(events[0]?.eventStart).toBe(0)
    expect(events[0]?.eventEnd).toBeGreaterThanOrEqual(0)
  })

  it.each([
    ['many events', '', 1024],
    ['much text', 'x'.repeat(1024 * 1024), 16],
  ])('leaves out what is too much: %s, but not the end', (_, body, kept) => {
    const { writer: own, events, ends } = writer()
    for (let i = 0; i < kept + 10; i++) own.write({ type: 'bodySnapshot', body })
    expect(events).toHaveLength(kept)
    own.end({ type: 'requestFinished' }, {})
    expect(events.at(-1)?.message.type).toBe('requestFinished')
    expect(ends()).toBe(1)
  })
})

describe('severityOf', () => {
  it.each([
    [undefined, 'error'],
    [200, 'success'],
    [399, 'success'],
    [400, 'warn'],
    [499, 'warn'],
    [500, 'error'],
  ])('%s is %s', (status, severity) => {
    expect(severityOf(status)).toBe(severity)
  })
})
