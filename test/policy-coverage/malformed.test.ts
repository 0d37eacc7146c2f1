// Every place of every field, with values that the schema rejects: an older CRD may have accepted them. Translation
// never throws, always reports the value, and never gives the proxy an invalid configuration. A security field rejects
// its traffic, and the other fields of the policy stay active.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { describe, expect, it } from 'vitest'
import { validateConfig } from '#api/ir/validate.ts'
import type { Policy } from '#api/ir/types.gen.ts'
import { applyDefaults } from '#api/validate/validate.ts'
import { BACKEND, FRONTEND, TRAFFIC } from '#operator/translate/policy/registry.ts'
import type { KubeObject } from '#operator/translate/kube.ts'
import { snapshotOf } from '#operator/translate/snapshot.ts'
import { translate } from '#operator/translate/cluster/translate.ts'
import type { Translation } from '#operator/translate/translation.ts'
import { GOLDEN_OPTIONS } from '../../operator/translate/golden-options.testing.ts'
import { goldenFolder, readGolden } from '../golden.ts'
import { fillPem } from '../pem-placeholders.ts'
import { misfitsAt, placesOf, reports, withValue, type Misfit, type SettingPath } from './misfits.ts'
import { policySchema, settingsOf } from './settings.ts'

const GOLDENS = join(import.meta.dirname, '..', '..', 'operator', 'translate', 'testdata')
const SECTIONS: Readonly<Record<string, object>> = { traffic: TRAFFIC, frontend: FRONTEND, backend: BACKEND }
/** Settings that no policy of a golden sets (exceptions.ts). Any mistake in these fields rejects the traffic. */
const OF_ONE_PIECE = /^backend\.(ai|mcp|auth|tunnel)\./
/** Time for thousands of translations on a busy machine. */
const TRANSLATIONS_MS = 300_000

/** A policy of a golden, with its other objects. */
interface Subject {
  readonly policy: KubeObject
  readonly others: readonly KubeObject[]
}

const schema = policySchema()

function subjects(): Subject[] {
  const defaults = readGolden(join(GOLDENS, '_defaults.yaml')).documents as KubeObject[] // by hand, as the goldens
  return goldenFolder(GOLDENS).cases.flatMap(({ inputPath }) => {
    const { options, documents } = readGolden(inputPath, GOLDEN_OPTIONS)
    if (options.get('schema') === 'older' || options.get('defaults') === 'none') return []
    const own = fillPem(documents) as KubeObject[] // the test of the goldens checks them
    const names = new Set(own.map(nameOf))
    const all = [...defaults.filter((one) => !names.has(nameOf(one))), ...own]
    const policies = own.filter(({ kind }) => kind === 'GwPolicy')
    return policies.map((policy) => ({ policy, others: all.filter((one) => one !== policy) }))
  })
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.namespace ?? ''}/${metadata.name}`
}

function translated({ others }: Subject, policy: object): Translation {
  // On purpose a policy of the wrong form.
  const objects = [...others, policy as KubeObject].map((object) => applyDefaults(object))
  return translate(snapshotOf(objects), {
    controllerName: 'gw.dev/controller',
    className: 'gw',
    clusterDomain: 'cluster.local',
    controllerNamespace: 'gw-system',
  })
}

function policiesOf({ perGateway }: Translation): Policy[] {
  return [...perGateway.values()].flatMap(({ config }) => config.policies)
}

/** The additional output of a field. */
interface Baseline {
  readonly without: readonly string[]
  readonly doesAct: boolean
}

function baselineOf(subject: Subject, field: SettingPath): Baseline {
  const texts = (policy: object): string[] => policiesOf(translated(subject, policy)).map((one) => JSON.stringify(one))
  const without = texts(withValue(subject.policy, ['spec', ...field], undefined))
  return { without, doesAct: texts(subject.policy).length > without.length }
}

/** The problem in the translation of a policy with the misfit; undefined if the translation is right. */
function complaint(subject: Subject, misfit: Misfit, { without, doesAct }: Baseline): string | undefined {
  const translation = translated(subject, withValue(subject.policy, ['spec', ...misfit.place], misfit.value))
  const name = subject.policy.metadata.name
  const reported = translation.problems.filter(
    ({ object, path }) =>
      object.kind === 'GwPolicy' && object.name === name && reports(path, misfit) && path.split('.').length > 2,
  )
  if (reported.length === 0) return 'silent'
  if (reported.some(({ path, message }) => !message.includes(path.split('.').at(-1) ?? '')))
    return 'does not name the field'
  const unreadable = [...translation.perGateway.values()].flatMap(({ config }) => validateConfig(config))
  if (unreadable.length > 0) return `the proxy gets ${unreadable.map(({ path }) => path).join(', ')}`
  const policies = policiesOf(translation)
  const [section = '', field = ''] = misfit.setting.split('.')
  const translator: unknown = Reflect.get(SECTIONS[section] ?? {}, field)
  const denial = `"deny":{"field":"${section}.${field}"`
  const doesDeny = policies.some(({ policy }) => JSON.stringify(policy).includes(denial))
  const mustDeny = (translator as { failureMode?: string } | undefined)?.failureMode === 'deny' // of the registry
  if (mustDeny && doesAct && !doesDeny) return 'no denial'
  const texts = new Set(policies.map((one) => JSON.stringify(one)))
  if (without.some((text) => !texts.has(text))) return 'another field is no longer in force'
  return undefined
}

describe('a policy with a value that the schema rejects', () => {
  it(
    'is reported, rejects the traffic of a security field, and keeps its other fields',
    { tags: ['full'], timeout: TRANSLATIONS_MS },
    () => {
      const seen = new Set<string>()
      const complaints: string[] = []
      let tried = 0
      for (const subject of subjects()) {
        const baselines = new Map<string, Baseline>()
        for (const placed of placesOf(subject.policy, schema)) {
          if (seen.has(placed.setting) || placed.place.length < 2) continue
          seen.add(placed.setting)
          const field = placed.place.slice(0, 2)
          const baseline = baselines.get(field.join('.')) ?? baselineOf(subject, field)
          baselines.set(field.join('.'), baseline)
          for (const misfit of misfitsAt(subject.policy, placed)) {
            tried++
            const wrong = complaint(subject, misfit, baseline)
            if (wrong !== undefined)
              complaints.push(`${misfit.path} ${misfit.reason} ${JSON.stringify(misfit.value).slice(0, 40)}: ${wrong}`)
          }
        }
      }
      expect(complaints).toEqual([])
      expect(tried).toBeGreaterThan(1000)
      const missing = settingsOf(schema).filter(({ path }) => !seen.has(path))
      expect(missing.map(({ path }) => path).filter((path) => !OF_ONE_PIECE.test(path))).toEqual([])
    },
  )
})

/** `traffic/csrf`: the golden of the broken field is beside the others of the section. */
const FIELDS = Object.entries(SECTIONS).flatMap(([section, registry]) =>
  Object.entries(registry as Record<string, { failureMode: string }>).map(
    ([field, { failureMode }]) => [section, field, failureMode] as const,
  ),
)

describe('the golden of a broken field', () => {
  it.each(FIELDS)('%s.%s shows what becomes of it: %s', (section, field, failureMode) => {
    const name = field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    const golden = join(GOLDENS, section, `${name}-broken.out.yaml`)
    const { gateways, problems } = parse(readFileSync(golden, 'utf8')) as {
      gateways: Record<string, { policies: Policy[] }> // as golden.test.ts writes it
      problems: string[]
    }
    expect(problems).toEqual([expect.stringContaining(` spec.${section}.${field}`)])
    const policies = Object.values(gateways).flatMap((gateway) => gateway.policies)
    const denied = policies.flatMap(({ policy }) => deniedFields(policy))
    // A part of a `keep` field may be valid.
    if (failureMode !== 'keep') expect(denied).toEqual(failureMode === 'deny' ? [`${section}.${field}`] : [])
    expect(policies.length - denied.length, 'policies of other fields').toBeGreaterThan(0)
  })
})

function deniedFields({ traffic, frontend, backend }: Policy['policy']): string[] {
  return [traffic, frontend, backend].flatMap((payload) => payload?.deny?.field ?? [])
}
