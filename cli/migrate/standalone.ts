// Standalone files of other gateways with the fields of Gw. Comments and variables stay as they are. What has no equal
// is a finding. Pure.
import { isMap, isScalar, isSeq, parseDocument, type Document, type Node } from 'yaml'
import { pathTo } from '#proxy/config/standalone/field-path.ts'
import { fieldProblems } from '#proxy/config/standalone/issues.ts'
import type { Finding } from './annotations.ts'
import { type Place, RULES } from './standalone-rules.ts'

export interface MigratedFile {
  readonly text: string
  readonly findings: readonly Finding[]
}

/** A value with a variable is checked only when the file is loaded. */
const VARIABLE = /\$[A-Za-z_{]/

/** `text`: valid YAML with one document. */
export function migrateStandalone(text: string): MigratedFile {
  const document = parseDocument(text)
  const findings: Finding[] = []
  // The deepest first: a rule finds the fields of its place under their new names.
  for (const place of placesOf(document.contents, { pattern: '', path: '' }).reverse()) {
    for (const { at, apply } of RULES) {
      if (at.test(place.pattern)) apply(place, (finding) => findings.push({ path: place.path, ...finding }))
    }
  }
  return {
    text: document.toString({ lineWidth: 0, flowCollectionPadding: false }),
    findings: [...findings.reverse(), ...remaining(document)],
  }
}

function placesOf(node: unknown, { pattern, path }: Pick<Place, 'pattern' | 'path'>): Place[] {
  if (isSeq<Node>(node)) {
    return node.items.flatMap((value, index) => {
      const place = { pattern: `${pattern}[]`, path: pathTo(path, index) }
      return [{ ...place, value, field: undefined }, ...placesOf(value, place)]
    })
  }
  if (!isMap(node)) return []
  return node.items.flatMap((pair) => {
    const name = isScalar(pair.key) ? String(pair.key.value) : ''
    const place = { pattern: pattern === '' ? name : `${pattern}.${name}`, path: pathTo(path, name) }
    // The library types values of parsed documents as unknown; they are nodes.
    const value = pair.value as Node
    return [{ ...place, value, field: { pair, parent: node } }, ...placesOf(value, place)]
  })
}

/** Fields that no rule changed, and that a standalone file cannot have. */
function remaining(document: Document): Finding[] {
  return fieldProblems(document.toJS({ maxAliasCount: ALIASES_MAX })).flatMap(({ path, keys, message }) => {
    const value = document.getIn(keys)
    if (typeof value === 'string' && VARIABLE.test(value)) return []
    return [{ path, severity: 'error' as const, message: `not migrated: ${message}` }]
  })
}

/** As for standalone files. */
const ALIASES_MAX = 100
