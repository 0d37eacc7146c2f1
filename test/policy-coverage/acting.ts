// Which settings the operator acts on: a golden that sets one must be translated otherwise when its value is another.
// Uses the goldens of operator/translate; writes nothing.
import { join } from 'node:path'
import { applyDefaults } from '#api/validate/validate.ts'
import type { KubeObject } from '#operator/translate/kube.ts'
import { snapshotOf } from '#operator/translate/snapshot.ts'
import { translate } from '#operator/translate/translate.ts'
import { goldenFolder, readGolden } from '../golden.ts'
import { fillPem } from '../pem-placeholders.ts'
import { GOLDEN_OPTIONS } from '../../operator/translate/golden-options.testing.ts'
import { valuesIn, type Schema, type Setting, type SetValue } from './settings.ts'

const GOLDENS = join(import.meta.dirname, '..', '..', 'operator', 'translate', 'testdata')
/** Tried in place of a value, one after the other, until something changes. */
const OTHER_TEXTS = ['other', '45s', '"other"', '45', '/other', 'https://other.example', '128Ki']

export function settingsThatAct(settings: readonly Setting[], schema: Schema): ReadonlySet<string> {
  const values = new Map(settings.map((setting) => [setting.path, setting.values]))
  const acting = new Set<string>()
  const defaults = readGolden(join(GOLDENS, '_defaults.yaml')).documents as KubeObject[] // by hand, as the goldens
  for (const { inputPath } of goldenFolder(GOLDENS).cases) {
    const { options, documents } = readGolden(inputPath, GOLDEN_OPTIONS)
    const own = fillPem(documents) as KubeObject[] // the test of the goldens checks them
    const set = own.flatMap((document) => valuesIn(document, schema)).filter(({ setting }) => !acting.has(setting))
    if (set.length === 0) continue
    const isAlone = options.get('defaults') === 'none'
    const rendered = (): string | undefined => outcome(isAlone ? own : [...without(defaults, own), ...own])
    const before = rendered()
    for (const one of set) {
      const allowed = values.get(one.setting) ?? []
      if (!acting.has(one.setting) && doesAct(one, { allowed, before, rendered })) acting.add(one.setting)
    }
  }
  return acting
}

interface Attempt {
  readonly allowed: readonly string[]
  /** What the golden is translated to as it is. */
  readonly before: string | undefined
  readonly rendered: () => string | undefined
}

function doesAct(one: SetValue, { allowed, before, rendered }: Attempt): boolean {
  const { holder, key, value } = one
  const record = holder as Record<string, unknown> // holders are maps or lists, and the key is one of theirs
  const outcomeWith = (other: unknown): string | undefined => {
    record[key] = other
    const result = rendered()
    record[key] = value
    return result
  }
  if (allowed.length > 1) {
    const outcomes = allowed.map(outcomeWith)
    return new Set(outcomes).size === allowed.length
  }
  return othersFor(value).some((other) => {
    const after = outcomeWith(other)
    return after !== undefined && after !== before
  })
}

function othersFor(value: unknown): readonly unknown[] {
  if (typeof value === 'number') return [value + 1, value - 1]
  if (typeof value === 'boolean') return [!value]
  return typeof value === 'string' ? OTHER_TEXTS : [{ other: 'other' }, undefined]
}

/** undefined: the schema would have refused such a value, and the status says so whatever the field is for. */
function outcome(objects: readonly KubeObject[]): string | undefined {
  try {
    const snapshot = snapshotOf(objects.map((object) => applyDefaults(structuredClone(object))))
    const { perGateway, problems } = translate(snapshot, {
      controllerName: 'gw.dev/controller',
      className: 'gw',
      clusterDomain: 'cluster.local',
      controllerNamespace: 'gw-system',
      backendRefGrantMode: 'route',
      areModelsEnabled: true,
    })
    if (problems.some(({ reason }) => reason === 'Malformed')) return undefined
    return JSON.stringify([[...perGateway], problems])
  } catch {
    return undefined
  }
}

function without(defaults: readonly KubeObject[], own: readonly KubeObject[]): KubeObject[] {
  const names = new Set(own.map(nameOf))
  return defaults.filter((object) => !names.has(nameOf(object)))
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.namespace ?? ''}/${metadata.name}`
}
