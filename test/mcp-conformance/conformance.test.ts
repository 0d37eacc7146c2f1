// @module-tag full
// The official conformance suite of MCP: what a server passes directly, it passes through the gateway.
import { beforeAll, describe, expect, it } from 'vitest'
import { clientLeg, lostByClients } from './client-leg.ts'
import { DATES, install } from './suite.ts'
import { allWays, lost, type Results, WAYS } from './ways.ts'

const TEST_MS = 300_000

beforeAll(install, TEST_MS)

describe.each(DATES)('MCP %s', (date) => {
  let results: Results | undefined

  beforeAll(async () => {
    results = await allWays(date)
  }, TEST_MS)

  it.each(WAYS)('passes %s what the server passes directly', (way) => {
    if (results === undefined) throw new Error('the suite did not run')
    expect(results[way].length).toBeGreaterThan(0)
    expect(lost(results, way).filter(({ known }) => known === undefined)).toEqual([])
  })

  it('passes to clients what the server of the suite gives them directly', { timeout: TEST_MS }, async () => {
    const clients = await clientLeg(date)
    expect(clients.gateway.length).toBeGreaterThan(0)
    expect(lostByClients(clients)).toEqual([])
  })
})
