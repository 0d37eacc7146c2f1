// Text of users that would steer a terminal or forge a line, in every field of every golden input: a manifest that an
// older CRD let in may hold it. No status message shows it as it is.
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { goldenFolder, readGolden } from '#test/golden.ts'
import { GOLDEN_OPTIONS } from './golden-options.testing.ts'
import type { KubeObject } from './kube.ts'
import { snapshotOf } from './snapshot.ts'
import { translate } from './cluster/translate.ts'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), 'testdata')
const SETTINGS = { controllerName: 'gw.dev/controller', className: 'gw', clusterDomain: 'cluster.local' }
const HOSTILE = '\u001b[2J\u009b\u202e\nforged: all is well'
// oxlint-disable-next-line no-control-regex -- what must not be in a message
const UNSAFE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e]|^forged/m
/** Fields that identify an object; with a change it would be another object, which translation ignores. */
const KEPT = new Set(['apiVersion', 'kind', 'namespace', 'controllerName', 'gatewayClassName'])

/** One golden in as many in `make test`. */
const SHARE = 4

interface Case {
  readonly name: string
  readonly documents: readonly unknown[]
}

const defaults = readGolden(join(ROOT, '_defaults.yaml')).documents
const cases: readonly Case[] = goldenFolder(ROOT).cases.map(({ name, inputPath }) => ({
  name,
  documents: readGolden(inputPath, GOLDEN_OPTIONS).documents,
}))

describe('status messages', () => {
  it.each(cases.filter((_, index) => index % SHARE === 0))('show hostile text escaped, $name', check)
  it.each(cases.filter((_, index) => index % SHARE !== 0))(
    'show hostile text escaped, $name',
    { tags: ['full'] },
    check,
  )

  function check({ documents }: Case): void {
    for (const [index, document] of documents.entries()) {
      for (const spoil of [everyText, everyKey]) {
        const changed = documents.with(index, { ...asRecord(document), spec: spoil(asRecord(document)['spec']) })
        // Deliberately not what the schema accepts.
        const { statuses } = translate(snapshotOf([...defaults, ...changed] as KubeObject[]), SETTINGS)
        for (const message of messagesOf(statuses)) expect(message).not.toMatch(UNSAFE)
      }
    }
  }
})

function everyText(value: unknown): unknown {
  if (typeof value === 'string') return value + HOSTILE
  if (Array.isArray(value)) return value.map(everyText)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, KEPT.has(key) ? (part as unknown) : everyText(part)]),
  )
}

/** Of maps with names that users choose among the rest. */
function everyKey(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(everyKey)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, part]) => [
      [key, everyKey(part)],
      [key + HOSTILE, part as unknown],
    ]),
  )
}

function messagesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(messagesOf)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, part]) =>
    key === 'message' && typeof part === 'string' ? [part] : messagesOf(part),
  )
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
