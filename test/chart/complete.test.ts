// hack/charts.sh completes the charts: every shared file has one place in the repository, and the copies are updated.
import { execFile } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const COPIES = ['gw/charts', 'gw/files', 'gw-crds/files']

let clone = ''

beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'gw-charts-'))
  cpSync(join(ROOT, 'config'), join(clone, 'config'), { recursive: true })
  cpSync(join(ROOT, 'hack/charts.sh'), join(clone, 'hack/charts.sh'))
  for (const folder of COPIES) rmSync(join(clone, 'config/helm', folder), { recursive: true, force: true })
})

afterEach(() => rmSync(clone, { recursive: true }))

const complete = async (): Promise<unknown> => promisify(execFile)(join(clone, 'hack/charts.sh'))
const texts = (folder: string, pattern = '*.yaml'): Record<string, string> =>
  Object.fromEntries(
    globSync(pattern, { cwd: join(clone, folder) }).map((name) => [
      name,
      readFileSync(join(clone, folder, name), 'utf8'),
    ]),
  )

it('copies the shared files, also twice at the same time', async () => {
  await Promise.all([complete(), complete(), complete()])
  const crds = texts('config/crd')
  expect(Object.keys(crds).length).toBeGreaterThan(3)
  expect(texts('config/helm/gw-crds/files/crd')).toEqual(crds)
  const subchart = texts('config/helm/gw/charts/gw-crds', '**/*.*')
  expect(subchart).toEqual(texts('config/helm/gw-crds', '**/*.*'))
  expect(Object.keys(subchart)).toContain('templates/crds.yaml')
  expect(readdirSync(join(clone, 'config/helm/gw/files')).sort()).toEqual(['grafana', 'inference', 'rbac'])
})

it('copies changed files and removes files without a source', async () => {
  await complete()
  writeFileSync(join(clone, 'config/crd/gw.dev_gwpolicies.yaml'), 'changed: true\n')
  const stale = join(clone, 'config/helm/gw-crds/files/crd/gw.dev_gone.yaml')
  writeFileSync(stale, '')
  await complete()
  expect(existsSync(stale)).toBe(false)
  expect(texts('config/helm/gw-crds/files/crd')).toEqual(texts('config/crd'))
  expect(texts('config/helm/gw/charts/gw-crds/files/crd')).toEqual(texts('config/crd'))
})
