// Lists that come in chunks, one version after the other: the items, the objects that stay, and what is noted of the
// difference.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Workload } from '../ir/types.gen.ts'
import { listChanges, withChanges } from '../incremental/list-change.ts'
import { cutList, packChunk } from './chunks.ts'
import { chunkRef } from './index-file.ts'
import { ListReader } from './list-reader.ts'

const SIZE = 200

type Edit = (list: readonly Workload[]) => readonly Workload[]

function workload(uid: string, address: string): Workload {
  return { uid, addresses: [address], healthy: true, services: [] }
}

const place = fc.nat(SIZE - 1)
const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.tuple(place, fc.nat(9)).map(([at, byte]): Edit => (list) => {
    const one = list[at]
    return one === undefined ? list : list.with(at, workload(one.uid, `10.0.1.${byte}`))
  }),
  fc.tuple(place, fc.nat(40)).map(
    ([at, count]): Edit =>
      (list) =>
        list.toSpliced(at, count),
  ),
  fc.tuple(place, place, fc.nat(60)).map(([from, to, count]): Edit => (list) => {
    const moved = list.slice(from, from + count)
    return list.toSpliced(from, count).toSpliced(to, 0, ...moved)
  }),
  fc.tuple(place, fc.uuid()).map(
    ([at, uid]): Edit =>
      (list) =>
        list.toSpliced(at, 0, workload(uid, '10.0.2.1')),
  ),
)

it('reads every version, keeps equal items, and notes the difference', () => {
  const first = Array.from({ length: SIZE }, (_, at) => workload(`uid-${at}`, '10.0.0.1'))
  fc.assert(
    fc.property(fc.array(fc.array(edit, { maxLength: 3 }), { maxLength: 6 }), (history) => {
      const reader = new ListReader('workloads')
      const files = new Map<string, Uint8Array>()
      let list: readonly Workload[] = first
      let before: readonly Workload[] = []
      for (const edits of [[], ...history]) {
        for (const one of edits) list = one(list)
        const chunks = cutList('workloads', list)
        for (const chunk of chunks) files.set(...packChunk('workloads', chunk, 'json'))
        const read = reader.read(
          chunks.map(({ id }) => chunkRef(id, 0)),
          (name) => files.get(name),
        )
        if ('fault' in read) throw new Error(read.fault.message)
        expect(read.items).toEqual(list)
        // Read as what was written.
        const now = read.items as readonly Workload[]
        const changes = listChanges(before, now)
        expect(withChanges(before, changes)).toEqual(now)
        for (const { at, removed } of changes) expect(before.slice(at, at + removed.length)).toEqual(removed)
        expect(now === before).toBe(changes.length === 0)
        before = now
      }
    }),
    { numRuns: 60 },
  )
})
