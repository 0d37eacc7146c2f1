import { describe, expect, it } from 'vitest'
import type { ObjectStatus } from '../translate/object-status.ts'
import { KnownStatuses } from './known-statuses.ts'

function status(name: string): ObjectStatus {
  const body = { status: {}, generation: 1 }
  // What is said does not matter here.
  return { kind: 'HTTPRoute', namespace: 'shop', name, ...body } as unknown as ObjectStatus
}

const NOTHING = { due: [], silent: [] }

describe('KnownStatuses', () => {
  it('returns new and replaced statuses, and those of changed objects', () => {
    const known = new KnownStatuses()
    const [a, b] = [status('a'), status('b')]
    expect(known.take([a, b])).toEqual({ due: [a, b], silent: [] })
    expect(known.take([a, b])).toEqual(NOTHING)
    const other = status('b')
    expect(known.take([a, other])).toEqual({ due: [other], silent: [] })
    expect(known.get('HTTPRoute shop/b')).toBe(other)
    known.objectChanged('HTTPRoute shop/a')
    known.objectChanged('HTTPRoute shop/unknown')
    expect(known.take([a, other])).toEqual({ due: [a], silent: [] })
    expect(known.take([a, other])).toEqual(NOTHING)
  })

  it('forgets objects that translation no longer covers, and names them once', () => {
    const known = new KnownStatuses()
    const a = status('a')
    known.take([a])
    known.objectChanged('HTTPRoute shop/a')
    expect(known.take([])).toEqual({ due: [], silent: ['HTTPRoute shop/a'] })
    expect(known.take([])).toEqual(NOTHING)
    expect([known.has('HTTPRoute shop/a'), [...known.entries()]]).toEqual([false, []])
    expect(known.take([a])).toEqual({ due: [a], silent: [] })
  })
})
