// Nothing of a schema is untested: every rule is broken by one fixture and met by another, every field is set by one.
import { describe, expect, it } from 'vitest'
import { type CrdKind, type CrdRule, loadCrdKinds, schemaNodes, schemaValues } from './crd-schema.testing.ts'
import { fixtureKinds, loadFixtures } from './testdata.testing.ts'

const crds = loadCrdKinds()

const folders = new Set(fixtureKinds())

const fixturesOf = (kind: CrdKind) => (folders.has(kind.name) ? loadFixtures(kind.name) : [])

const validPatterns = new Map(crds.map((kind) => [kind.name, patternsOf(kind)]))

function patternsOf(kind: CrdKind): Set<string> {
  return new Set(
    validObjects(kind).flatMap((object) => [...schemaValues(kind.schema, object)].map(({ pattern }) => pattern)),
  )
}

function validObjects(kind: CrdKind): unknown[] {
  const valid = fixturesOf(kind).filter(({ error }) => error === undefined)
  return valid.flatMap(({ object, oldObject }) => [object, oldObject])
}

/** The same field of the same structure counts once for all its places: it has the same validation there. */
const setFields = new Set(
  crds.flatMap((kind) => {
    return validObjects(kind).flatMap((object) =>
      [...schemaValues(kind.schema, object)].map((value) => value.kindOfPlace),
    )
  }),
)

const textOf = ({ message, messageExpression, rule }: CrdRule): string => message ?? messageExpression ?? rule

/** Text for the failure: how many, and which. */
function listed(missing: readonly string[]): string {
  return missing.length === 0 ? 'none' : `${missing.length} missing:\n${missing.join('\n')}`
}

interface RuleUse {
  readonly rule: CrdRule
  readonly places: { readonly kind: CrdKind; readonly pattern: string }[]
}

/** The same rule of a shared type is one rule, wherever the type is used. */
function distinctRules(): RuleUse[] {
  const uses = new Map<string, RuleUse>()
  for (const kind of crds) {
    for (const { node, pattern } of schemaNodes(kind.schema)) {
      for (const rule of node['x-kubernetes-validations'] ?? []) {
        const key = `${rule.rule}\n${textOf(rule)}`
        const use = uses.get(key) ?? { rule, places: [] }
        use.places.push({ kind, pattern })
        uses.set(key, use)
      }
    }
  }
  return [...uses.values()]
}

describe('rules', () => {
  const rules = distinctRules()

  it('each have a message that a user can act on', () => {
    const silent = rules.filter(({ rule }) => rule.message === undefined && rule.messageExpression === undefined)
    expect(listed(silent.map(({ rule, places }) => `${first(places)}: ${rule.rule}`))).toBe('none')
  })

  it('each have an invalid fixture that expects the exact message', () => {
    const expected = new Set(crds.flatMap((kind) => fixturesOf(kind).map(({ error }) => error?.message.trim())))
    const missing = rules.filter(({ rule }) => !expected.has(textOf(rule).trim()))
    expect(listed(missing.map(({ rule, places }) => `${first(places)}: ${textOf(rule)}`))).toBe('none')
  })

  it('each have a valid fixture that sets their field', () => {
    const missing = rules.filter(({ places }) => {
      return !places.some(({ kind, pattern }) => validPatterns.get(kind.name)?.has(pattern) === true)
    })
    expect(listed(missing.map(({ rule, places }) => `${first(places)}: ${textOf(rule)}`))).toBe('none')
  })
})

function first(places: RuleUse['places']): string {
  return places.map(({ kind, pattern }) => `${kind.name} ${pattern}`)[0] ?? ''
}

describe.each(crds.map((kind) => [kind.name, kind] as const))('%s', (_, kind) => {
  it('has a valid fixture for every field of its spec', () => {
    const missing = new Map<string, string>()
    for (const { pattern, kindOfPlace } of schemaNodes(kind.schema)) {
      if (pattern.startsWith('spec') && !setFields.has(kindOfPlace)) missing.set(kindOfPlace, pattern)
    }
    expect(listed([...missing.values()])).toBe('none')
  })

  it('documents every field', () => {
    const bare = [...schemaNodes(kind.schema)].filter(({ node, pattern }) => {
      return (
        /^(?:spec|status)/.test(pattern) && !/(?:\[\]|\{\})$/.test(pattern) && (node.description ?? '').trim() === ''
      )
    })
    expect(listed(bare.map(({ pattern }) => pattern))).toBe('none')
  })
})
