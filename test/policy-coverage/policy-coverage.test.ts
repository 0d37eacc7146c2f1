// Every field of a policy is tested. From the schema: every setting has a golden in which it has an effect, an
// end-to-end case that applies it, and a line on the page of its policy. Exceptions have a reason: exceptions.ts.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { VALUES_WITHOUT_CASE, WITHOUT_CASE, WITHOUT_GOLDEN, WITHOUT_PAGE } from './exceptions.ts'
import { settingsThatAct } from './acting.ts'
import { READING_MS, valuesNotUsed, valuesOfCases } from './cases.ts'
import { COMPLETE, verdict } from './verdict.ts'
import { operatorWorlds } from './acting-goldens.ts'
import { policySchema, settingsOf, valuesIn } from './settings.ts'

const ROOT = join(import.meta.dirname, '..', '..')

const schema = policySchema()
const settings = settingsOf(schema)

/** Time for a thousand translations on a busy machine. */
const TRANSLATIONS_MS = 120_000

describe('every setting of a GwPolicy', () => {
  it('is in the list of settings', () => {
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
    'has an effect in some golden of the operator, and each value of an enumeration has a different one',
    { tags: ['full'], timeout: TRANSLATIONS_MS },
    () => {
      const acting = settingsThatAct(settings, (document) => valuesIn(document, schema), operatorWorlds(false))
      expect(
        verdict(
          settings.filter(({ path }) => !acting.has(path)),
          WITHOUT_GOLDEN,
        ),
      ).toEqual(COMPLETE)
    },
  )

  it('is applied by some end-to-end case', { timeout: READING_MS, tags: ['full'] }, async () => {
    const used = await valuesOfCases((document) => valuesIn(document, schema))
    expect(
      verdict(
        settings.filter(({ path }) => !used.has(path)),
        WITHOUT_CASE,
      ),
    ).toEqual(COMPLETE)
    const counted = settings.filter(({ path }) => !WITHOUT_CASE.some((not) => not.settings.test(path)))
    expect(verdict(valuesNotUsed(counted, used), VALUES_WITHOUT_CASE)).toEqual(COMPLETE)
  })

  it('is named on the page of its policy', () => {
    const lacking = settings.filter(({ path }) => !pageOf(path).includes(lastName(path)))
    expect(verdict(lacking, WITHOUT_PAGE)).toEqual(COMPLETE)
  })
})

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
