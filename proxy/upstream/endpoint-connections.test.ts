import { expect, it } from 'vitest'
import { endpointConnections } from './endpoint-connections.ts'

const pool = (label: string, openCount: number, idleCount: number, openMax: number) => ({
  label,
  openCount,
  idleCount,
  openMax,
})

it('adds up the pools of an address, and leaves out others', () => {
  const pools = [pool('a:1', 3, 1, 4096), pool('b:1', 9, 9, 4096), pool('a:1', 1, 0, 64)]
  expect(endpointConnections(pools, new Set(['a:1', 'c:1']))).toEqual([
    { label: 'a:1', open: 4, idle: 1, openMax: 4160 },
  ])
})
