// A real API server takes every rendered object, unknown fields refused, and has the merge keys that we have.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type ApiServer, apiServerScript, startApiServer, testPort } from '#api/v1alpha1/apiserver.testing.ts'
import { goldenFolder } from '#test/golden.ts'
import type { KubeObject } from './kube-object.ts'
import { OWNED_KINDS } from './owned-kinds.ts'

const START_MS = 120_000
const ALL_MS = 240_000
const ROOT = join(import.meta.dirname, '..')
/** Objects with what no API server takes; the others of the case are fine. */
const REFUSED: Readonly<Record<string, readonly string[]>> = { 'yaml-injection': ['Deployment'] }

const script = apiServerScript()
if (script === undefined) console.log('skipped: no API server to apply rendered objects to (GW_APISERVER)')

describe.skipIf(script === undefined)('the API server', { tags: ['full'] }, () => {
  let server: ApiServer

  beforeAll(async () => {
    server = await startApiServer(script ?? '', testPort())
  }, START_MS)

  afterAll(() => server.stop(), START_MS)

  it('takes every rendered object', { timeout: ALL_MS }, async () => {
    const { cases } = goldenFolder(join(import.meta.dirname, 'testdata'))
    const verdicts = cases.flatMap(({ name, outputPath }) => {
      // Written by our own golden test.
      const { objects } = parse(readFileSync(outputPath, 'utf8')) as { objects: KubeObject[] }
      return objects.map((object) => verdict(server, name, object))
    })
    expect(verdicts.length).toBeGreaterThan(200)
    expect((await Promise.all(verdicts)).filter((each) => each !== undefined)).toEqual([])
  })

  it('has the merge keys of our table', { timeout: ALL_MS }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gw-merge-keys-'))
    const file = join(folder, 'openapi.json')
    writeFileSync(file, JSON.stringify(await server.get('/openapi/v2')))
    const run = promisify(execFile)
    const { stderr } = await run(process.execPath, [join(ROOT, 'hack/update-merge-keys.ts'), file, '--verify'])
    expect(stderr).toBe('')
    rmSync(folder, { recursive: true })
  })
})

/** undefined: as expected. */
async function verdict(server: ApiServer, name: string, object: KubeObject): Promise<string | undefined> {
  const owned = OWNED_KINDS.find(({ kind }) => kind === object.kind)
  const inDefault = { ...object, metadata: { ...object.metadata, namespace: 'default' } }
  const { accepted, message } = await server.apply({ plural: owned?.plural ?? '', isNamespaced: true }, inDefault)
  const isExpected = accepted !== (REFUSED[name] ?? []).includes(object.kind)
  return isExpected ? undefined : `${name} ${object.kind}: ${accepted ? 'taken' : message}`
}
