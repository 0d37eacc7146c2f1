// A folder in a repository is the source: `kubectl apply -k` applies it, a change of a file affects traffic, and
// nothing that the controller writes counts as drift.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { until } from './suite/client.ts'
import { kubectl } from './suite/kubectl.ts'
import { NAMESPACE, programmed, serviceOf, themeFile } from './suite/samples.ts'

const FOLDER = '.cache/gitops'
const FILE = join(FOLDER, 'http.yaml')
const URL_ = `http://${serviceOf('http')}/api/users`

async function isServed(prefixOfUpstream: string): Promise<void> {
  const includes = [`"path":"${prefixOfUpstream}/users"`]
  await until({ url: URL_, host: 'www.example.com' }, { status: 200, includes })
}

/** Output of `kubectl diff`; empty if the cluster matches the folder. */
function drift(folder: string, ...options: readonly string[]): string {
  try {
    return execFileSync('kubectl', ['diff', ...options, '-k', folder], { encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    return String((error as { stdout?: string }).stdout) // execFileSync: a difference is exit code 1
  }
}

afterAll(async () => {
  await kubectl(['delete', '-k', FOLDER, '--ignore-not-found'])
  rmSync(FOLDER, { recursive: true, force: true })
})

describe('GitOps', () => {
  it('applies a folder and then its changes, without drift', async () => {
    rmSync(FOLDER, { recursive: true, force: true })
    mkdirSync(FOLDER, { recursive: true })
    cpSync(themeFile('http'), FILE)
    const kustomization = { resources: ['http.yaml'], labels: [{ pairs: { 'example.com/team': 'shop' } }] }
    writeFileSync(join(FOLDER, 'kustomization.yaml'), JSON.stringify(kustomization))
    await kubectl(['apply', '-k', FOLDER])
    await programmed('http')
    await isServed('/v1')
    expect(drift(FOLDER)).toBe('')
    writeFileSync(FILE, readFileSync(FILE, 'utf8').replace('replacePrefixMatch: /v1', 'replacePrefixMatch: /v2'))
    expect(drift(FOLDER)).toContain('/v2')
    await kubectl(['apply', '-k', FOLDER])
    await isServed('/v2')
    expect(drift(FOLDER)).toBe('')
    const labelled = await kubectl(['get', 'gateway', '-n', NAMESPACE, '-l', 'example.com/team=shop', '-o', 'name'])
    expect(labelled).toContain('/http')
  })

  it('of the controller itself causes no drift', () => {
    expect(drift('.cache/deploy', '--server-side', '--force-conflicts')).toBe('')
  })
})
