import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { listChanges, withChanges } from '../incremental/list-change.ts'
import { applyDelta, configDelta } from './config-delta.ts'
import { emptyConfig } from './empty.ts'
import { keepItems, keepItemsOfNewLists } from './keep-items.ts'
import type { RenderedConfig, Service } from './types.gen.ts'

const bind = fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), port: fc.integer({ min: 1, max: 3 }) })
const service = fc.record({
  namespace: fc.constantFrom('n', 'm'),
  name: fc.constantFrom('s', 't'),
  hostname: fc.constantFrom('x', 'y'),
  ports: fc.constant<Service['ports']>([]),
})
const config = fc
  .tuple(
    fc.uniqueArray(bind, { selector: ({ key }) => key }),
    fc.uniqueArray(service, { selector: ({ namespace, hostname }) => `${namespace}/${hostname}` }),
    fc.constantFrom({}, { customFunctions: 'a() { 1 }' }, { customFunctions: 'b() { 1 }' }),
  )
  .map(([binds, services, functions]): RenderedConfig => ({ ...emptyConfig(), binds, services, ...functions }))

const copyOf = (value: RenderedConfig): RenderedConfig => structuredClone(value)

describe('a delta of configurations', () => {
  it('turns the earlier configuration into the later one, also across threads', () => {
    fc.assert(
      fc.property(config, config, (before, read) => {
        const after = keepItems(before, read)
        const delta = structuredClone(configDelta(before, after))
        expect(applyDelta(copyOf(before), delta)).toEqual(read)
      }),
    )
  })

  it('notes its changes for later readers', () => {
    fc.assert(
      fc.property(config, config, (before, read) => {
        const applied = applyDelta(before, configDelta(before, keepItems(before, read)))
        const changes = listChanges(before.binds, applied.binds)
        expect(withChanges(before.binds, changes)).toEqual(applied.binds)
        for (const { at, removed } of changes) expect(before.binds.slice(at, at + removed.length)).toEqual(removed)
      }),
    )
  })

  it('contains only the new items', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((key) => ({ key, port: 1 }))
    if (a === undefined || b === undefined || c === undefined) throw new Error('three binds')
    const before = { ...emptyConfig(), binds: [a, b, c] }
    const moved = { key: 'b', port: 2 }
    const after = { ...before, binds: [a, moved, c] }
    const steps = [{ from: 0, count: 1 }, { items: [moved] }, { from: 2, count: 1 }]
    expect(configDelta(before, after)).toEqual({ binds: steps })
    const applied = applyDelta(before, configDelta(before, after))
    expect(applied.binds[0]).toBe(a)
    expect(applied.routes).toBe(before.routes)
    expect(configDelta(before, before)).toEqual({})
    expect(configDelta(before, { ...before, binds: [c, a] })).toEqual({
      binds: [
        { from: 2, count: 1 },
        { from: 0, count: 1 },
      ],
    })
  })
})

describe('keepItems', () => {
  it('equals what was read, and keeps the previous objects that are equal', () => {
    fc.assert(
      fc.property(config, config, (before, read) => {
        const kept = keepItems(before, read)
        expect(kept).toEqual(read)
        for (const one of kept.binds) {
          const known = before.binds.find(({ key, port }) => key === one.key && port === one.port)
          expect(known === undefined || known === one).toBe(true)
        }
        expect(keepItems(before, copyOf(before))).toEqual(before)
        expect(keepItems(before, copyOf(before)).binds).toBe(before.binds)
      }),
    )
  })
})

describe('keepItemsOfNewLists', () => {
  it('returns the same configuration, with the earlier objects for equal items of lists that are new', () => {
    fc.assert(
      fc.property(config, config, (before, read) => {
        const now = { ...copyOf(read), services: before.services }
        const kept = keepItemsOfNewLists(before, now)
        expect(kept).toEqual(now)
        expect(kept.services).toBe(before.services)
        expect(kept.binds).toEqual(keepItems(before, now).binds)
        for (const [at, item] of keepItems(before, now).binds.entries()) expect(kept.binds[at]).toBe(item)
      }),
    )
  })

  it('leaves lists alone that have few new items', () => {
    const binds = Array.from({ length: 10 }, (_, at) => ({ key: `b${at}`, port: 80 }))
    const now = { ...emptyConfig(), binds: binds.with(3, { key: 'b3', port: 80 }) }
    expect(keepItemsOfNewLists({ ...emptyConfig(), binds }, now)).toBe(now)
  })
})
