// kubectl, which has the strategic merge of Kubernetes itself, must agree with ours on every case. Without kubectl
// (GW_KUBECTL, PATH, or the programs of the test cluster) the comparison is left out.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { findKubectl } from '../../test/find-kubectl.ts'
import { isJsonObject, type JsonObject } from '../kube-object.ts'
import { withoutDirectives, withoutNulls } from './directives.ts'
import { strategicMerge } from './merge.ts'
import { directedCase, type PatchCase, plainCase } from './patch-cases.testing.ts'

const API_VERSIONS: Readonly<Record<string, string>> = {
  ServiceAccount: 'v1',
  Service: 'v1',
  Deployment: 'apps/v1',
  DaemonSet: 'apps/v1',
  PodDisruptionBudget: 'policy/v1',
  HorizontalPodAutoscaler: 'autoscaling/v2',
}
const GENERATED = 240
const SEED = 20_26
const AT_ONCE = 3
const DEADLINE_MS = 240_000
const CALL_MS = 30_000

const kubectl = findKubectl()
if (kubectl === undefined) console.log('skipped: no kubectl to compare strategic merge with (GW_KUBECTL)')

interface NamedCase extends PatchCase {
  readonly name: string
}

describe.skipIf(kubectl === undefined)('kubectl agrees', () => {
  it('on every written case', { tags: ['full'], timeout: DEADLINE_MS }, async () => {
    // Our own file.
    const cases = parse(readFileSync(join(import.meta.dirname, 'testdata/cases.yaml'), 'utf8')) as NamedCase[]
    expect(cases.length).toBeGreaterThanOrEqual(40)
    expect(await differences(cases)).toEqual([])
  })

  it(`on ${GENERATED} generated cases`, { tags: ['full'], timeout: DEADLINE_MS }, async () => {
    const cases = [
      ...fc.sample(plainCase, { numRuns: GENERATED / 3, seed: SEED }),
      ...fc.sample(directedCase, { numRuns: (GENERATED * 2) / 3, seed: SEED }),
    ].map((each, index) => ({ ...each, name: `generated ${index}` }))
    expect(cases).toHaveLength(GENERATED)
    expect(new Set(cases.map(({ kind }) => kind)).size).toBe(6)
    expect(await differences(cases)).toEqual([])
  })
})

async function differences(cases: readonly NamedCase[]): Promise<string[]> {
  const found: string[] = []
  const queue = [...cases]
  const work = async (): Promise<void> => {
    for (let each = queue.shift(); each !== undefined; each = queue.shift()) {
      const input = { ...each, original: manifestOf(each) }
      const theirs = await patchedByKubectl(input)
      const ours = strategicMerge({ ...input, directives: 'kubectl' })
      const mine = 'value' in ours ? canonical(withoutNulls(ours.value)) : 'refused'
      // kubectl leaves directives and nulls in what it adds as a whole; the API server ignores them.
      const other = theirs === undefined ? 'refused' : canonical(withoutDirectives(withoutNulls(theirs)))
      if (mine !== other) found.push(`${each.name}: ${JSON.stringify(each)}\n  ours:    ${mine}\n  kubectl: ${other}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return found
}

function manifestOf({ kind, original }: PatchCase): JsonObject {
  const metadata = isJsonObject(original['metadata']) ? original['metadata'] : {}
  return { ...original, apiVersion: API_VERSIONS[kind] ?? '', kind, metadata: { ...metadata, name: 'x' } }
}

/** undefined: refused. */
function patchedByKubectl({ original, patch }: PatchCase): Promise<JsonObject | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<JsonObject | undefined>()
  const options = ['--type', 'strategic', '--local', '--dry-run=client', '-o', 'json', '-f', '-']
  const child = execFile(
    kubectl ?? '',
    ['patch', ...options, '-p', JSON.stringify(patch)],
    { timeout: CALL_MS, env: { ...process.env, KUBECONFIG: '/dev/null' } },
    (error, stdout) => {
      if (error === null) resolve(JSON.parse(stdout))
      else if (error.killed === true) reject(error)
      else resolve(undefined)
    },
  )
  child.stdin?.end(JSON.stringify(original))
  return promise
}

/** Text with sorted keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) =>
    isJsonObject(item) ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1))) : item,
  )
}
