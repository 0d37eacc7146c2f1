// No field of a policy without proof. From the schema: every setting has a golden in which the operator acts on it, an
// end-to-end case that applies it, and a line on the page of its policy. Exceptions give their reason: exceptions.ts.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { describe, expect, it } from 'vitest'
import type { ConformanceCase } from '../conformance/suite/case.ts'
import { VALUES_WITHOUT_CASE, WITHOUT_CASE, WITHOUT_GOLDEN, WITHOUT_PAGE, type Exception } from './exceptions.ts'
import { settingsThatAct } from './acting.ts'
import { policySchema, settingsOf, valuesIn, type Setting } from './settings.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const CONFORMANCE = join(ROOT, 'test', 'conformance')

const schema = policySchema()
const settings = settingsOf(schema)

/** Lacking and not excused; and excuses that nothing needs. */
function verdict(lacking: readonly Setting[], exceptions: readonly Exception[]): { missing: string[]; idle: string[] } {
  const paths = lacking.map(({ path }) => path)
  return {
    missing: paths.filter((path) => !exceptions.some((one) => one.settings.test(path))),
    idle: exceptions.filter((one) => !paths.some((path) => one.settings.test(path))).map(({ because }) => because),
  }
}

/** A thousand translations, on machines that do other things as well. */
const TRANSLATIONS_MS = 120_000

const COMPLETE = { missing: [], idle: [] }

describe('every setting of a GwPolicy', () => {
  it('is known here', () => {
    const paths = settings.map(({ path }) => path)
    expect(paths.length).toBeGreaterThan(500)
    expect(new Set(paths).size).toBe(paths.length)
    expect(paths).toEqual(
      expect.arrayContaining([
        'traffic.csrf.additionalOrigins[]',
        'frontend.http.http1MaxHeaders',
        'backend.auth.credentials[].location.cookie.name',
        'traffic.extAuth.http.addRequestHeaders{}',
      ]),
    )
  })

  it(
    'is acted upon by the operator in some golden, and each value of an enumeration differently',
    () => {
      const acting = settingsThatAct(settings, schema)
      expect(
        verdict(
          settings.filter(({ path }) => !acting.has(path)),
          WITHOUT_GOLDEN,
        ),
      ).toEqual(COMPLETE)
    },
    TRANSLATIONS_MS,
  )

  it('is applied by some end-to-end case', async () => {
    const used = await valuesOfCases()
    expect(
      verdict(
        settings.filter(({ path }) => !used.has(path)),
        WITHOUT_CASE,
      ),
    ).toEqual(COMPLETE)
    const isPartly = ({ path, values }: Setting): boolean =>
      used.has(path) && values.some((value) => used.get(path)?.has(value) === false)
    const byDefault = settings.filter(
      (one) => isPartly(one) && !WITHOUT_CASE.some((not) => not.settings.test(one.path)),
    )
    expect(verdict(byDefault, VALUES_WITHOUT_CASE)).toEqual(COMPLETE)
  })

  it('is named on the page of its policy', () => {
    const lacking = settings.filter(({ path }) => !pageOf(path).includes(lastName(path)))
    expect(verdict(lacking, WITHOUT_PAGE)).toEqual(COMPLETE)
  })
})

/** What the samples set, as they are and as the cases change them. */
async function valuesOfCases(): Promise<Map<string, Set<string>>> {
  const used = new Map<string, Set<string>>()
  const files = readdirSync(CONFORMANCE).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  for (const file of files) {
    // conformance.test.ts checks that each file has its cases.
    const { cases } = (await import(join(CONFORMANCE, file))) as { cases: readonly ConformanceCase[] }
    for (const { sample, change } of cases) {
      const original = readFileSync(join(ROOT, 'config', 'samples', sample), 'utf8')
      for (const document of parseAllDocuments(change === undefined ? original : change(original))) {
        for (const { setting, value } of valuesIn(document.toJS(), schema)) {
          const values = used.get(setting) ?? new Set()
          used.set(setting, values.add(String(value)))
        }
      }
    }
  }
  return used
}

const pages = new Map<string, string>()

function pageOf(path: string): string {
  const [section = '', field = ''] = path.replaceAll(/\[\]|\{\}/g, '').split('.')
  if (path === 'traffic.phase') return text('README')
  return text(section === 'traffic' ? kebab(field) : `${section}-${kebab(field)}`)
}

function text(page: string): string {
  let content = pages.get(page)
  if (content === undefined) {
    content = readFileSync(join(ROOT, 'docs', 'policies', `${page}.md`), 'utf8')
    pages.set(page, content)
  }
  return content
}

function lastName(path: string): string {
  return (
    path
      .replaceAll(/\[\]|\{\}/g, '')
      .split('.')
      .at(-1) ?? ''
  )
}

function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
