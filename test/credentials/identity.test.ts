// @module-tag full
// The GwParameters on the pages of cloud credentials give the pods of a Gateway the identity that the page promises.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { parseAllDocuments, stringify } from 'yaml'
import { gw } from '#test/cli/gw.ts'

const PAGES = join(import.meta.dirname, '..', '..', 'docs', 'credentials')

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-identity-test-'))
})

afterEach(() => rmSync(folder, { recursive: true }))

interface Parameters {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace: string }
}

/** Those of a page, in their order. */
function parametersOf(page: string): Parameters[] {
  const text = readFileSync(join(PAGES, page), 'utf8')
  const blocks = [...text.matchAll(/^( *)```yaml\n([^`]*)^ *```/gm)].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )
  const objects = blocks.flatMap((block) => parseAllDocuments(block).map((one) => one.toJS() as Parameters)) // docs.test.ts
  return objects.filter(({ kind }) => kind === 'GwParameters')
}

it.each([
  ['cloud-a.md', 0, ['ServiceAccount eks.amazonaws.com/role-arn: ROLE_ARN']],
  [
    'cloud-b.md',
    0,
    ['ServiceAccount azure.workload.identity/client-id: CLIENT_ID', 'Deployment azure.workload.identity/use: "true"'],
  ],
  ['cloud-c.md', 0, ['ServiceAccount iam.gke.io/gcp-service-account: ACCOUNT@PROJECT.iam.gserviceaccount.com']],
  ['cloud-c.md', 1, ['Deployment mountPath: /var/run/service-account', 'Deployment audience: AUDIENCE']],
])('%s, GwParameters %i', async (page, index, expected) => {
  const parameters = parametersOf(page)[index]
  expect(parameters).toBeDefined()
  const group = 'gateway.networking.k8s.io/v1'
  const objects = [
    {
      apiVersion: group,
      kind: 'GatewayClass',
      metadata: { name: 'gw' },
      spec: {
        controllerName: 'gw.dev/controller',
        parametersRef: { group: 'gw.dev', kind: 'GwParameters', ...parameters?.metadata },
      },
    },
    {
      apiVersion: group,
      kind: 'Gateway',
      metadata: { name: 'edge', namespace: 'shop' },
      spec: { gatewayClassName: 'gw', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
    },
    parameters,
  ]
  const file = join(folder, 'manifests.yaml')
  writeFileSync(file, objects.map((object) => stringify(object)).join('---\n'))
  const { stdout, stderr } = await gw('translate', '--deployment', '-f', file)
  expect(stderr).toBe('')
  const lines = stdout.split(/^---$/m).flatMap((document) => {
    const kind = /^kind: (\w+)$/m.exec(document)?.[1] ?? ''
    return document.split('\n').map((line) => `${kind} ${line.replace(/^[ -]*/, '')}`)
  })
  expect(lines).toEqual(expect.arrayContaining(expected))
})
