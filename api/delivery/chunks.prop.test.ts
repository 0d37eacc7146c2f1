// Chunks depend on the list alone, not on what was cut before; one changed item changes one or two of them; what was
// damaged is rejected.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Chunk, cutList, packChunk, unpackChunk } from './chunks.ts'

interface Item {
  readonly key: string
  readonly text: string
}

const item = (at: number, text: string): Item => ({ key: `shop/route-${at}`, text })
const list = fc
  .array(fc.tuple(fc.nat(400), fc.constantFrom('a', 'b', 'x'.repeat(30_000))), { maxLength: 300 })
  .map((pairs) => [...new Map(pairs.sort(([a], [b]) => a - b))].map(([at, text]) => item(at, text)))

function idsOf(chunks: readonly Chunk[]): string[] {
  return chunks.map(({ id }) => id)
}

describe('cutList', () => {
  it('returns the same chunks as a first cut, whatever the previous list was, and all items in order', () => {
    fc.assert(
      fc.property(fc.array(list, { minLength: 1, maxLength: 5 }), fc.nat(), (lists, seed) => {
        let before: readonly Chunk[] = []
        let known = new Map<string, Item>()
        for (const now of lists) {
          // Items that say the same are mostly the same objects.
          const items = now.map((one) => {
            const there = known.get(one.key)
            return there?.text === one.text && seed % 3 > 0 ? there : one
          })
          known = new Map(items.map((one) => [one.key, one]))
          const chunks = cutList('routes', items, before)
          expect(idsOf(chunks)).toEqual(idsOf(cutList('routes', items)))
          expect(chunks.flatMap((chunk) => chunk.items)).toEqual(items)
          expect(cutList('routes', [...items], chunks)).toBe(chunks)
          before = chunks
        }
      }),
      { numRuns: 50 },
    )
  })

  it('changes a part of a long list whose size does not grow with the list', () => {
    const items = Array.from({ length: 5000 }, (_, at) => item(at, 'a'))
    const before = cutList('routes', items)
    expect(before.length).toBeGreaterThan(50)
    expect(Math.max(...before.map((chunk) => chunk.items.length))).toBeLessThanOrEqual(128)
    const histories: (readonly Item[])[] = [
      items.with(2500, item(2500, 'b')),
      items.toSpliced(2500, 1),
      items.toSpliced(2500, 0, item(99_999, 'new')),
    ]
    for (const now of histories) {
      const known = new Set(before)
      expect(cutList('routes', now, before).filter((chunk) => !known.has(chunk)).length).toBeLessThanOrEqual(3)
    }
  })
})

describe('packChunk', () => {
  it('returns a buffer without unused memory behind it', () => {
    const [chunk] = cutList(
      'routes',
      Array.from({ length: 20 }, (_, at) => item(at, 'a')),
    )
    if (chunk === undefined) throw new Error('one chunk')
    const [, content] = packChunk('routes', chunk, 'gz')
    expect(content.buffer.byteLength).toBe(content.length)
  })
})

describe('unpackChunk', () => {
  it.each(['json', 'gz'] as const)('returns the items of a %s file, and nothing when it is damaged', (encoding) => {
    const items = [item(1, 'a'), item(2, 'b')]
    const [chunk] = cutList('routes', items)
    if (chunk === undefined) throw new Error('one chunk')
    const [name, content] = packChunk('routes', chunk, encoding)
    expect(unpackChunk(chunk.id, name, content)).toEqual(items)
    const damaged = Buffer.from(content)
    damaged.writeUInt8(damaged.readUInt8(content.length >> 1) ^ 1, content.length >> 1)
    expect(unpackChunk(chunk.id, name, damaged)).toBeUndefined()
    expect(unpackChunk(chunk.id, name, content.subarray(0, content.length >> 1))).toBeUndefined()
  })
})
