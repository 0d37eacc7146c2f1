// What a worker may take while file descriptors run out, against a process that opens and closes them.
import { describe, expect, it } from 'vitest'
import { DescriptorRoom } from './descriptor-room.ts'

const LIMIT = 400
/** What clients may have of it. */
const FOR_CLIENTS = 300

function room(open: number | undefined, workers = 1): { room: DescriptorRoom; process: { open: number | undefined } } {
  const process = { open }
  return { room: new DescriptorRoom({ workers, limit: LIMIT, count: () => process.open, clock: () => 0 }), process }
}

/** Each connection that may stay opens one. */
function come(one: { room: DescriptorRoom; process: { open: number | undefined } }, clients: number): number {
  let stayed = 0
  for (let client = 0; client < clients; client++) {
    if (!one.room.take()) continue
    stayed++
    one.process.open = (one.process.open ?? 0) + 1
  }
  return stayed
}

describe('a worker takes', () => {
  it.each([
    ['what clients may have', { open: 20, workers: 1, come: 400 }, FOR_CLIENTS - 20],
    ['the last one', { open: FOR_CLIENTS - 1, workers: 1, come: 2 }, 1],
    ['none of those that are kept', { open: FOR_CLIENTS, workers: 1, come: 1 }, 0],
    ['none where all are open', { open: LIMIT, workers: 1, come: 1 }, 0],
    ['more than its share, as long as it lasts', { open: 20, workers: 4, come: 400 }, FOR_CLIENTS - 20 - 3],
  ])('%s', (_, { open, workers, come: clients }, stayed) => {
    const one = room(open, workers)
    expect(come(one, clients)).toBe(stayed)
    expect(one.room.refused).toBe(clients - stayed)
  })

  it('none where nothing can be counted: that takes one as well', () => {
    expect(come(room(undefined), 1)).toBe(0)
  })

  it('all where there is no limit', () => {
    const unlimited = new DescriptorRoom({ workers: 1, limit: Number.POSITIVE_INFINITY, count: () => undefined })
    expect([unlimited.take(), unlimited.look(), unlimited.isShort]).toEqual([true, 0, false])
  })

  it('those that come after others have gone, from the next look on', () => {
    const one = room(FOR_CLIENTS)
    expect(come(one, 2)).toBe(0)
    one.process.open = FOR_CLIENTS - 5
    expect(come(one, 2)).toBe(0)
    one.room.look()
    expect(come(one, 10)).toBe(5)
  })
})

describe('a look', () => {
  // A sixteenth of 300 is to be free: 18.75.
  it.each([
    ['closes nothing while there is room', { open: FOR_CLIENTS - 1, workers: 1 }, 0],
    ['frees a part when there is none', { open: FOR_CLIENTS, workers: 1 }, 19],
    ['frees it out of the part that is kept', { open: FOR_CLIENTS + 40, workers: 1 }, 59],
    ['closes the share of one worker', { open: FOR_CLIENTS, workers: 4 }, 5],
  ])('%s', (_, { open, workers }, closed) => {
    expect(room(open, workers).room.look()).toBe(closed)
  })

  it('closes a few more after a rejected connection, although one is free by now', () => {
    const one = room(FOR_CLIENTS)
    come(one, 1)
    one.process.open = FOR_CLIENTS - 2
    expect(one.room.look()).toBe(17)
  })

  it('rests for a hundred times as long as counting took', () => {
    let nowMs = 0
    let counted = 0
    const count = (): number => {
      counted++
      nowMs += 5
      return FOR_CLIENTS
    }
    const slow = new DescriptorRoom({ workers: 1, limit: LIMIT, count, clock: () => nowMs })
    const atStart = counted
    expect(slow.look()).toBe(19)
    nowMs = 504
    expect([slow.look(), counted - atStart]).toEqual([0, 1])
    nowMs = 510
    expect([slow.look(), counted - atStart]).toEqual([19, 2])
  })

  it('reports a shortage until a while after the last refusal', () => {
    const one = room(FOR_CLIENTS)
    expect(one.room.isShort).toBe(false)
    one.room.look()
    expect(one.room.isShort).toBe(true)
    one.process.open = 20
    let looks = 0
    for (; one.room.isShort && looks < 1000; looks++) one.room.look()
    expect(looks).toBe(40)
  })
})
