// Every field of the Gateway API, of a GwBackend and of GwParameters is tested: it has a golden of operator or deployer
// whose output it changes, and an end-to-end case that applies it. Exceptions have a reason.
import { describe, expect, it } from 'vitest'
import { settingsThatAct } from './acting.ts'
import { READING_MS, valuesNotUsed, valuesOfCases } from './cases.ts'
import { VALUES_WITHOUT_CASE, WITHOUT_CASE, WITHOUT_GOLDEN } from './kind-exceptions.ts'
import { fieldsOfKinds, valuesOfKind } from './kinds.ts'
import { COMPLETE, verdict } from './verdict.ts'
import { deployerWorlds, operatorWorlds } from './acting-goldens.ts'

const fields = fieldsOfKinds()

/** Time for a thousand translations on a busy machine. */
const TRANSLATIONS_MS = 120_000

describe('every field of a kind', () => {
  it('is in the list of fields', () => {
    const paths = fields.map(({ path }) => path)
    expect(new Set(paths).size).toBe(paths.length)
    expect(paths).toEqual(
      expect.arrayContaining([
        'Gateway.listeners[].tls.certificateRefs[].name',
        'HTTPRoute.rules[].matches[].headers[].type',
        'ReferenceGrant.to[].name',
        'GwBackend.static.host',
        'GwParameters.image.digest',
      ]),
    )
    // Settings of policies have their own test.
    expect(paths.filter((path) => path.includes('.policies.'))).toEqual([])
  })

  it(
    'has an effect in some golden, and each value of an enumeration has a different one',
    { tags: ['full'], timeout: TRANSLATIONS_MS },
    () => {
      const acting = settingsThatAct(fields, valuesOfKind, operatorWorlds(true))
      const deployed = settingsThatAct(fields, valuesOfKind, deployerWorlds())
      const lacking = fields.filter(({ path }) => !acting.has(path) && !deployed.has(path))
      expect(verdict(lacking, WITHOUT_GOLDEN)).toEqual(COMPLETE)
    },
  )

  it('is applied by some end-to-end case', { timeout: READING_MS, tags: ['full'] }, async () => {
    const used = await valuesOfCases(valuesOfKind)
    const lacking = fields.filter(({ path }) => !used.has(path))
    expect(verdict(lacking, WITHOUT_CASE)).toEqual(COMPLETE)
    const counted = fields.filter(({ path }) => !WITHOUT_CASE.some((not) => not.settings.test(path)))
    expect(verdict(valuesNotUsed(counted, used), VALUES_WITHOUT_CASE)).toEqual(COMPLETE)
  })
})
