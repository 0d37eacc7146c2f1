import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { afterEach, describe, expect, it } from 'vitest'
import { emptyConfig } from '#api/ir/empty.ts'
import { exchangeOf } from '../policy/exchange.testing.ts'
import { CLAIM_BYTES, type TraceReport } from './messages.ts'
import { TraceTap } from './tap.ts'

const ports: MessagePort[] = []

afterEach(() => {
  for (const port of ports.splice(0)) port.close()
})

interface ArmedWatch {
  readonly port: MessagePort
  readonly reports: TraceReport[]
}

function arm(tap: TraceTap, claim: SharedArrayBuffer, expression?: string, isFirst = false): ArmedWatch {
  const { port1, port2 } = new MessageChannel()
  const reports: TraceReport[] = []
  port1.on('message', (report: TraceReport) => reports.push(report))
  ports.push(port1)
  tap.arm({ kind: 'trace', expression, claim, isFirst }, port2)
  return { port: port1, reports }
}

const newClaim = (): SharedArrayBuffer => new SharedArrayBuffer(CLAIM_BYTES)

describe('TraceTap', () => {
  it('gives a watch that two workers wait for to the first of them', async () => {
    const [one, two] = [new TraceTap(0), new TraceTap(1)]
    const claim = newClaim()
    const won = arm(one, claim)
    const lost = arm(two, claim)
    const [first, second] = [exchangeOf(), exchangeOf()]
    one.offer(first, 1024)
    two.offer(second, 1024)
    expect([first.trace === undefined, second.trace === undefined]).toEqual([false, true])
    expect([one.isArmed, two.isArmed]).toEqual([false, false])
    await expect.poll(() => won.reports.map(({ type }) => type)).toEqual(['armed', 'claimed', 'event', 'event'])
    expect(lost.reports).toEqual([{ type: 'armed' }])
  })

  it('gives one request to one watch', () => {
    const tap = new TraceTap(0)
    const claims = [newClaim(), newClaim()]
    for (const claim of claims) arm(tap, claim)
    tap.offer(exchangeOf(), 1024)
    expect(claims.map((claim) => new Int32Array(claim)[0])).toEqual([1, 0])
    expect(tap.isArmed).toBe(true)
    tap.offer(exchangeOf(), 1024)
    expect(claims.map((claim) => new Int32Array(claim)[0])).toEqual([1, 1])
    expect(tap.isArmed).toBe(false)
  })

  it('gives a request to the watch that waits for it alone, whatever other watches wait', () => {
    const tap = new TraceTap(0)
    const [all, own] = [newClaim(), newClaim()]
    arm(tap, all)
    arm(tap, own, 'request.headers["x-tenant"] == "a"', true)
    tap.offer(exchangeOf({ headers: [['x-tenant', 'a']] }), 1024)
    expect([all, own].map((claim) => new Int32Array(claim)[0])).toEqual([0, 1])
    tap.offer(exchangeOf(), 1024)
    expect([all, own].map((claim) => new Int32Array(claim)[0])).toEqual([1, 1])
  })

  it('waits for the request that an expression is true for; one that fails is not', () => {
    const tap = new TraceTap(0)
    arm(tap, newClaim(), 'request.headers["x-tenant"] == "a"')
    const [other, wanted] = [exchangeOf(), exchangeOf({ headers: [['x-tenant', 'a']] })]
    tap.offer(other, 1024)
    expect([other.trace, tap.isArmed]).toEqual([undefined, true])
    tap.offer(wanted, 1024)
    expect([wanted.trace === undefined, tap.isArmed]).toEqual([false, false])
  })

  it('knows the functions of the configuration in force', () => {
    const tap = new TraceTap(0)
    tap.setConfig({ ...emptyConfig(), customFunctions: 'isOf(t) { request.headers["x-tenant"] == t }' })
    arm(tap, newClaim(), 'isOf("a")')
    const [other, wanted] = [exchangeOf(), exchangeOf({ headers: [['x-tenant', 'a']] })]
    tap.offer(other, 1024)
    tap.offer(wanted, 1024)
    expect([other.trace === undefined, wanted.trace === undefined]).toEqual([true, false])
  })

  it('reports why an expression fails, without credentials of the request', async () => {
    const tap = new TraceTap(0)
    const { reports } = arm(tap, newClaim(), 'int(request.headers["authorization"]) == 1')
    for (let i = 0; i < 3; i++) tap.offer(exchangeOf({ headers: [['authorization', 'Bearer hunter2hunter2']] }), 1024)
    await expect.poll(() => reports.length).toBeGreaterThan(1)
    expect(reports).toEqual([{ type: 'armed' }, { type: 'failed', message: expect.any(String), count: 1 }])
    expect(JSON.stringify(reports)).not.toContain('hunter2')
    expect(tap.isArmed).toBe(true)
  })

  it('reports an expression whose value is not a boolean', async () => {
    const tap = new TraceTap(0)
    const { reports } = arm(tap, newClaim(), 'request.path')
    const exchange = exchangeOf()
    tap.offer(exchange, 1024)
    await expect.poll(() => reports.length).toBeGreaterThan(1)
    expect(reports[1]).toEqual({ type: 'failed', message: 'its value is not a boolean', count: 1 })
    expect([exchange.trace, tap.isArmed]).toEqual([undefined, true])
  })

  it('takes nothing for a watch that is over, and forgets it when its port closes', async () => {
    const tap = new TraceTap(0)
    const claim = newClaim()
    const { port } = arm(tap, claim)
    new Int32Array(claim)[0] = -1
    const exchange = exchangeOf()
    tap.offer(exchange, 1024)
    expect(exchange.trace).toBeUndefined()
    const next = arm(tap, newClaim())
    port.close()
    expect(tap.isArmed).toBe(true)
    next.port.close()
    await expect.poll(() => tap.isArmed).toBe(false)
  })
})
