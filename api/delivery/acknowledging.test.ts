import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isFirst, shardCount, shardOf, announcedProxies, windowMs } from './acknowledging.ts'

const podsOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `web-7f9c${index}`)

describe('the number of proxies in an index', () => {
  it.each([
    [1, undefined, undefined],
    [64, undefined, undefined],
    [65, undefined, 128],
    [2000, undefined, 2048],
    [129, 128, 256],
    // It stays until less than a quarter is left.
    [65, 256, 256],
    [64, 256, undefined],
    [500, 2048, 512],
    [0, 128, undefined],
  ])('of %i pods after %s: %s', (pods, announced, expected) => {
    expect(announcedProxies(pods, announced)).toBe(expected)
  })

  it('is never smaller than the number of pods, and stays when nothing changes', () => {
    fc.assert(
      fc.property(fc.nat(6000), fc.option(fc.integer({ min: 7, max: 13 }), { nil: undefined }), (pods, power) => {
        const announced = announcedProxies(pods, power === undefined ? undefined : 2 ** power)
        expect(announced ?? 64).toBeGreaterThanOrEqual(pods)
        expect(announcedProxies(pods, announced)).toBe(announced)
      }),
    )
  })
})

describe('proxies of a large Gateway', () => {
  const PODS = podsOf(2000)
  const proxies = announcedProxies(PODS.length, undefined)

  it('share ConfigMaps of about 64 pods', () => {
    const sizes = new Map<number, number>()
    for (const pod of PODS) sizes.set(shardOf(pod, proxies), (sizes.get(shardOf(pod, proxies)) ?? 0) + 1)
    expect(sizes.size).toBe(shardCount(proxies))
    expect(Math.max(...sizes.values())).toBeLessThan(110)
  })

  it('include about 16 that acknowledge at once', () => {
    const first = PODS.filter((pod) => isFirst(pod, proxies))
    expect(first.length).toBeGreaterThan(6)
    expect(first.length).toBeLessThan(32)
  })

  it('acknowledge within a minute, with less than 200 writes per second', () => {
    expect(windowMs(proxies)).toBeLessThan(60_000)
    expect((2 * PODS.length) / (windowMs(proxies) / 1000)).toBeLessThan(200)
  })
})

it('a few proxies have one ConfigMap, and all acknowledge at once', () => {
  expect(shardCount(undefined)).toBe(1)
  for (const pod of podsOf(64)) {
    expect(shardOf(pod, undefined)).toBe(0)
    expect(isFirst(pod, undefined)).toBe(true)
  }
})
