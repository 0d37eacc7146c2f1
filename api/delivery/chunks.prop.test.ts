// Chunks depend on the list alone, not on what was cut before; one changed item changes one or two of them; what was
// damaged is rejected.
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Chunk, cutList, packChunk, unpackChunks } from './chunks.ts'

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

describe('unpackChunks', () => {
  const encodings = fc.constantFrom('json' as const, 'gz' as const)

  it('returns the items of each file, and nothing of damaged ones', () => {
    fc.assert(
      fc.property(
        list,
        fc.array(encodings, { minLength: 1 }),
        fc.array(fc.nat(3)),
        fc.nat(),
        (items, forms, harm, at) => {
          const chunks = cutList('routes', items)
          const packed = chunks.map((chunk, place) => {
            const [name, content] = packChunk('routes', chunk, forms[place % forms.length] ?? 'gz')
            return { id: chunk.id, name, content: harmed(content, harm[place] ?? 0, at) }
          })
          const expected = chunks.map((chunk, place) => ((harm[place] ?? 0) > 0 ? undefined : chunk.items))
          expect(unpackChunks(packed)).toEqual(expected)
        },
      ),
      { numRuns: 100 },
    )
  })

  it('rejects a file with too long a text, and reads those around it', () => {
    const chunks = ['a', 'b', 'c']
      .map((text) => cutList('routes', [item(1, text)])[0])
      .filter((one) => one !== undefined)
    const packed = chunks.map((chunk) => {
      const [name, content] = packChunk('routes', chunk, 'gz')
      return { id: chunk.id, name, content }
    })
    const [first, , last] = chunks
    const bomb = gzipSync(Buffer.alloc(17 * 1024 * 1024))
    const files = packed.map((one, place) => (place === 1 ? { ...one, content: bomb } : one))
    expect(unpackChunks(files)).toEqual([first?.items, undefined, last?.items])
    // A file may also lie about its size.
    bomb.writeUInt32LE(10, bomb.length - 4)
    expect(unpackChunks(files)).toEqual([first?.items, undefined, last?.items])
  })
})

/** One changed byte that is not only in the head of the file, a part, or another file. */
function harmed(content: Uint8Array, harm: number, seed: number): Uint8Array {
  const middle = content.length >> 1
  if (harm === 1) return content.with(middle, (content[middle] ?? 0) ^ 1)
  if (harm === 2) return content.subarray(0, seed % content.length)
  return harm === 3 ? gzipSync('[{"key":"other"}]') : content
}
