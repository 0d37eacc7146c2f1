// The deadline of a fetch starts when the library is loaded, which takes seconds on a busy machine.
import { afterEach, expect, it, vi } from 'vitest'
import { cloudBSource } from './cloud-b/cloud-b.ts'
import { cloudCSource } from './cloud-c/cloud-c.ts'
import type { TokenSource } from './token.ts'

const { order } = vi.hoisted(() => ({ order: [] as string[] }))

vi.mock('@azure/identity', () => {
  order.push('library')
  return {}
})
vi.mock('google-auth-library', () => {
  order.push('library')
  return {}
})

afterEach(() => {
  order.length = 0
  vi.restoreAllMocks()
})

const SOURCES: Readonly<Record<string, TokenSource<string>>> = {
  cloudB: cloudBSource({ credential: { managedIdentity: {} }, scope: 'https://a/.default', owner: 'n/p' }),
  cloudC: cloudCSource({ type: 'AccessToken', owner: 'n/p' }),
}

it.each(Object.entries(SOURCES))('of %s', async (_, source) => {
  const timeout = AbortSignal.timeout.bind(AbortSignal)
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    order.push(`deadline ${ms}`)
    return timeout(ms)
  })
  // The empty library has no credential.
  await expect(source.fetch(new AbortController().signal)).rejects.toMatchObject({ reason: 'Unavailable' })
  expect(order).toEqual(['library', 'deadline 5000'])
})
