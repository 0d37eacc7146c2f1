import { describe, expect, it } from 'vitest'
import { LatePart } from './late-part.ts'

describe('LatePart', () => {
  it('is loaded once', async () => {
    let loads = 0
    const part = new LatePart('part', () => Promise.resolve(++loads))
    await part.load()
    await part.load()
    expect([part.get(), loads]).toEqual([1, 1])
  })

  it('throws when it is used before it is loaded', () => {
    expect(() => new LatePart('part', () => Promise.resolve(1)).get()).toThrow('part is not loaded')
  })

  it('loads again after a failure', async () => {
    let loads = 0
    const part = new LatePart('part', () => (++loads === 1 ? Promise.reject(new Error('no file')) : Promise.resolve(2)))
    await expect(part.load()).rejects.toThrow('no file')
    await part.load()
    expect(part.get()).toBe(2)
  })
})
