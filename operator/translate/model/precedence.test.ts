import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { GwModel } from '#api/v1alpha1/gwmodel.gen.ts'
import { type Offer, precedenceOf } from './precedence.ts'

interface Row {
  readonly namespace: string
  readonly object?: string
  readonly name: string
  readonly day: number
  readonly isVirtual?: boolean
}

function offerOf({ namespace, object, name, day, isVirtual = false }: Row): Offer {
  const metadata = { namespace, name: object ?? name, creationTimestamp: `2026-01-0${day}T00:00:00Z` }
  // Only the metadata counts.
  return { model: { metadata } as GwModel, name, isVirtual }
}

function textOf({ model, name, isVirtual }: Offer): string {
  return `${isVirtual ? 'virtual ' : ''}${model.metadata.namespace}/${name}`
}

function tried(...rows: readonly Row[]): string[] {
  return precedenceOf(rows.map(offerOf)).offered.map(textOf)
}

describe('precedenceOf', () => {
  it('gives a name to the older model, even if its namespace sorts last', () => {
    const { offered, overridden } = precedenceOf([
      offerOf({ namespace: 'a', name: 'gpt', day: 2 }),
      offerOf({ namespace: 'z', name: 'gpt', day: 1 }),
    ])
    expect(offered.map(textOf)).toEqual(['z/gpt'])
    expect([...overridden].map(([loser, winner]) => [textOf(loser), textOf(winner)])).toEqual([['a/gpt', 'z/gpt']])
  })

  it('gives a name to the first by namespace when both are equally old', () => {
    expect(tried({ namespace: 'b', name: 'gpt', day: 1 }, { namespace: 'a', name: 'gpt', day: 1 })).toEqual(['a/gpt'])
  })

  it.each<[string, Row[], string[]]>([
    [
      'an older pattern before a newer name of another namespace',
      [
        { namespace: 'a', name: 'gpt', day: 2 },
        { namespace: 'z', name: '*', day: 1 },
      ],
      ['z/*', 'a/gpt'],
    ],
    [
      'a newer name before the pattern of its own namespace that includes it',
      [
        { namespace: 'a', name: '*', day: 1 },
        { namespace: 'a', name: 'gpt', day: 3 },
        { namespace: 'b', name: 'claude', day: 2 },
      ],
      ['a/gpt', 'a/*', 'b/claude'],
    ],
    [
      'a newer pattern behind the names of others that it includes',
      [
        { namespace: 'a', name: 'claude', day: 1 },
        { namespace: 'a', name: '*', day: 3 },
        { namespace: 'z', name: 'gpt', day: 2 },
      ],
      ['a/claude', 'z/gpt', 'a/*'],
    ],
    [
      'a virtual model before a model of its namespace with the same name',
      [
        { namespace: 'a', name: 'gpt', day: 1 },
        { namespace: 'a', name: 'gpt', object: 'chosen', day: 2, isVirtual: true },
      ],
      ['virtual a/gpt', 'a/gpt'],
    ],
    [
      'a newer virtual pattern behind an older name of another namespace',
      [
        { namespace: 'a', name: 'other', day: 1 },
        { namespace: 'a', name: 'g*', day: 3, isVirtual: true },
        { namespace: 'z', name: 'gpt', day: 2 },
      ],
      ['a/other', 'z/gpt', 'virtual a/g*'],
    ],
    [
      'names that differ in letter case, spaces or invisible characters as names of their own',
      [
        { namespace: 'a', name: 'GPT', day: 4 },
        { namespace: 'b', name: 'gpt ', day: 3 },
        { namespace: 'c', name: 'gpt\u200b', day: 2 },
        { namespace: 'z', name: 'gpt', day: 1 },
      ],
      ['z/gpt', 'c/gpt\u200b', 'b/gpt ', 'a/GPT'],
    ],
    [
      'the longer pattern first within a namespace',
      [
        { namespace: 'a', name: 'g*', day: 1 },
        { namespace: 'a', name: 'gpt-*', day: 2 },
        { namespace: 'a', name: '*', day: 1 },
      ],
      ['a/gpt-*', 'a/g*', 'a/*'],
    ],
  ])('tries %s', (_, rows, expected) => {
    expect(tried(...rows)).toEqual(expected)
    expect(tried(...rows.toReversed())).toEqual(expected)
  })

  it('leaves every name with the namespace that had it before a newer model came', () => {
    const name = fc.constantFrom('*', 'g*', '*t', 'gpt*', 'gpt', 'git', 'x')
    const row = fc.record({
      namespace: fc.constantFrom('a', 'm', 'z'),
      object: fc.constantFrom('1', '2', '3', '4'),
      name,
      isVirtual: fc.boolean(),
      day: fc.integer({ min: 1, max: 5 }),
    })
    const newcomer = row.map((one) => ({ ...one, object: 'new', day: 9 }))
    fc.assert(
      fc.property(
        fc.array(row, { maxLength: 6 }),
        newcomer,
        fc.constantFrom('gpt', 'git', 'x', 'gt'),
        (rows, one, asked) => {
          const before = answering(rows, asked)
          const after = answering([...rows, one], asked)
          expect(before ?? after).toBe(after)
        },
      ),
    )
  })
})

/** The namespace that answers for the name. */
function answering(rows: readonly Row[], asked: string): string | undefined {
  const { offered } = precedenceOf(rows.map(offerOf))
  return offered.find(({ name }) => matches(name, asked))?.model.metadata.namespace
}

function matches(pattern: string, name: string): boolean {
  return new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(name)
}
