// @module-tag full
// Arbitrary and damaged JSON-RPC messages and session ids, for a limited time each: a parser returns undefined or a
// message, never throws, and never takes long.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { isRequest, isResponse, parseMessage } from './jsonrpc.ts'
import { sessionCodec } from './legacy/session-id.ts'

const TIME_LIMIT_MS = 2000
/** Of one input. */
const SLOW_MS = 1000
/** Fewer are not a test of a parser. */
const RUNS_MIN = 20

/** Runs until the time is over, and reports seed and input of a failure. Returns the number of runs. */
function fuzz<T>(arbitrary: fc.Arbitrary<T>, check: (input: T) => void): number {
  const property = fc.property(arbitrary, (input) => {
    const startMs = performance.now()
    check(input)
    if (performance.now() - startMs > SLOW_MS) throw new Error('too slow')
  })
  const limits = { numRuns: 1_000_000, interruptAfterTimeLimit: TIME_LIMIT_MS, markInterruptAsFailure: false }
  const run = fc.check(property, limits)
  if (run.failed) throw new Error(fc.defaultReportMessage(run), { cause: run.errorInstance })
  return run.numRuns
}

const field = fc.oneof(fc.jsonValue(), fc.constantFrom('2.0', 'tools/call', 1, '12345678901234567890'))
const message = fc.record(
  { jsonrpc: fc.constantFrom('2.0', '1.0', 2), id: field, method: field, params: field, result: field, error: field },
  { requiredKeys: [] },
)

it('messages are of one kind, and are written as they were read', () => {
  const texts = fc.oneof(
    fc.string(),
    fc.json(),
    message.map((one) => JSON.stringify(one)),
  )
  const runs = fuzz(texts, (text) => {
    const read = parseMessage(text)
    if (read === undefined) return
    expect(isRequest(read) && isResponse(read)).toBe(false)
    expect(JSON.parse(JSON.stringify(read))).toEqual(JSON.parse(text))
  })
  expect(runs).toBeGreaterThan(RUNS_MIN)
})

const bytesOf = (text: string): Buffer => Buffer.from(text, 'base64url')

it('ids of sessions that are changed or invented open no session', () => {
  const codec = sessionCodec([new Uint8Array(32)])
  const id = codec.encode({ scope: 's', principal: 'p', targets: [] })
  const changed = fc
    .tuple(fc.nat(id.length - 1), fc.nat(4), fc.string({ maxLength: 4 }))
    .map(([at, removed, added]) => id.slice(0, at) + added + id.slice(at + removed))
  const runs = fuzz(fc.oneof(fc.string(), fc.base64String(), changed), (text) => {
    const opened = codec.decode(text)
    // The last character has bits that do not count.
    if (!bytesOf(text).equals(bytesOf(id))) expect(opened === undefined || opened === 'Over').toBe(true)
  })
  expect(runs).toBeGreaterThan(RUNS_MIN)
})
