// Every filter of the Gateway API is tested: each kind, at each allowed place, has a page that names it, a golden, and
// an end-to-end case that applies it. The compiler requires a line for a new kind.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { describe, expect, it } from 'vitest'
import type { HTTPRouteFilter } from '#api/gateway/httproute.gen.ts'
import { GOLDEN_OPTIONS } from '../../operator/translate/golden-options.testing.ts'
import type { ConformanceCase } from '../conformance/suite/case.ts'
import { goldenFolder, readGolden } from '../golden.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const CONFORMANCE = join(ROOT, 'test', 'conformance')
const GOLDENS = join(ROOT, 'operator', 'translate', 'testdata')

/** Pages, for the filters of a rule and of a backendRef. Filters that are rejected there have a page and cases too. */
const PAGES = {
  CORS: { rule: 'cors', backendRef: 'backend-ref-filters' },
  ExtensionRef: { rule: 'backend-ref-filters', backendRef: 'backend-ref-filters' },
  ExternalAuth: { rule: 'ext-auth', backendRef: 'backend-ref-filters' },
  RequestHeaderModifier: { rule: 'route-headers', backendRef: 'backend-ref-filters' },
  RequestMirror: { rule: 'mirror', backendRef: 'backend-ref-filters' },
  RequestRedirect: { rule: 'route-redirect', backendRef: 'backend-ref-filters' },
  ResponseHeaderModifier: { rule: 'route-headers', backendRef: 'backend-ref-filters' },
  URLRewrite: { rule: 'route-rewrite', backendRef: 'backend-ref-filters' },
} satisfies { [T in HTTPRouteFilter['type']]: { rule: string; backendRef: string } }

const PLACES = Object.entries(PAGES).flatMap(([type, { rule, backendRef }]) => [
  { type, level: 'rule', page: rule },
  { type, level: 'backendRef', page: backendRef },
])

const GOLDEN_FILTERS = inGoldens()
const CASE_FILTERS = await inCases()

describe.each(PLACES)('filter $type of a $level', ({ type, level, page }) => {
  it(`is named on the page ${page}`, () => {
    expect(readFileSync(join(ROOT, 'docs', 'policies', `${page}.md`), 'utf8')).toContain(type)
  })

  it('has a golden', () => {
    expect(GOLDEN_FILTERS).toContain(`${type} ${level}`)
  })

  it('is applied by an end-to-end case', () => {
    expect(CASE_FILTERS).toContain(`${type} ${level}`)
  })
})

function inGoldens(): string[] {
  const all = goldenFolder(GOLDENS).cases.map(({ inputPath }) => readGolden(inputPath, GOLDEN_OPTIONS).documents)
  return [...new Set(all.flatMap((documents) => documents.flatMap(filtersOf)))]
}

async function inCases(): Promise<string[]> {
  const files = readdirSync(CONFORMANCE).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  const used = new Set<string>()
  for (const file of files) {
    // test/conformance/suite/run-cases.ts checks that each file has its cases.
    const { cases } = (await import(join(CONFORMANCE, file))) as { cases: readonly ConformanceCase[] }
    for (const { sample, change } of cases) {
      const original = readFileSync(join(ROOT, 'config', 'samples', sample), 'utf8')
      const documents = parseAllDocuments(change === undefined ? original : change(original))
      for (const document of documents) for (const one of filtersOf(document.toJS())) used.add(one)
    }
  }
  return [...used]
}

interface WithFilters {
  readonly filters?: readonly { readonly type: string }[]
}

interface Route {
  readonly kind?: string
  readonly spec?: { readonly rules?: readonly (WithFilters & { readonly backendRefs?: readonly WithFilters[] })[] }
}

/** `RequestMirror backendRef`. */
function filtersOf(document: unknown): string[] {
  const { kind, spec } = document as Route // manifests, and goldens of malformed ones, whose rules are lists
  if (kind !== 'HTTPRoute' && kind !== 'GRPCRoute') return []
  const typesOf = (holder: WithFilters, level: string): string[] =>
    (holder.filters ?? []).map(({ type }) => `${type} ${level}`)
  return (spec?.rules ?? []).flatMap((rule) => [
    ...typesOf(rule, 'rule'),
    ...(rule.backendRefs ?? []).flatMap((one) => typesOf(one, 'backendRef')),
  ])
}
