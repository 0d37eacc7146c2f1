// How often `gw run` parses and validates a manifest.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Document } from 'yaml'
import { KINDS, type KindSchema } from '#api/validate/kinds/register.gen.ts'
import { loadRunnable, readSource, type SourceMemory } from './source.ts'

const GATEWAY = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: llm }
spec:
  gatewayClassName: gw
  listeners:
    - { name: http, port: 8080, protocol: HTTP, allowedRoutes: { kinds: [{ group: gw.dev, kind: GwModel }, { kind: HTTPRoute }] } }
`
const MANIFESTS = [
  `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: all }
spec: { parentRefs: [{ name: llm }], rules: [{ backendRefs: [{ group: gw.dev, kind: GwBackend, name: openai }] }] }
`,
  `
apiVersion: gw.dev/v1alpha1
kind: GwBackend
metadata: { name: openai }
spec: { ai: { provider: { p1: {} } }, policies: { auth: { key: k } } }
`,
  `
apiVersion: gw.dev/v1alpha1
kind: GwModel
metadata: { name: gpt-5-mini }
spec: { parentRefs: [{ name: llm }], provider: OpenAI, policies: { auth: { key: k } } }
`,
  `
apiVersion: gw.dev/v1alpha1
kind: GwPolicy
metadata: { name: csrf }
spec: { targetRefs: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, name: all }], traffic: { csrf: {} } }
`,
]

// Only the declared type of the map is read-only.
const kinds = KINDS as Map<string, KindSchema>
const originals = new Map(KINDS)
let folder: string
let validations: string[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-source-'))
  writeFileSync(join(folder, 'gateway.yaml'), GATEWAY)
  writeFileSync(join(folder, 'others.yaml'), MANIFESTS.join('---'))
  validations = []
  for (const [key, { structure, semantics }] of originals) {
    kinds.set(key, {
      semantics,
      get structure() {
        validations.push(key)
        return structure
      },
    })
  }
})

afterEach(() => {
  vi.restoreAllMocks()
  for (const [key, schema] of originals) kinds.set(key, schema)
  rmSync(folder, { recursive: true })
})

it('parses and validates each manifest once, also for a second build with fetched keys', async () => {
  const parse = vi.spyOn(Document.prototype, 'toJS')
  const memory: SourceMemory = {}
  const read = await readSource(folder, memory)
  if ('problem' in read) throw new Error(read.problem)
  const sources = [await loadRunnable(read, [], memory), await loadRunnable(read, [], memory)]
  for (const { problems, rendered } of sources) {
    expect(problems).toEqual([])
    expect(rendered?.config.binds).toHaveLength(1)
  }
  expect(parse).toHaveBeenCalledTimes(5)
  expect(validations.toSorted()).toEqual([
    'gateway.networking.k8s.io/v1/Gateway',
    'gateway.networking.k8s.io/v1/HTTPRoute',
    'gw.dev/v1alpha1/GwBackend',
    'gw.dev/v1alpha1/GwModel',
    'gw.dev/v1alpha1/GwPolicy',
  ])
})

it('validates objects with problems of the loader again in the translation', async () => {
  writeFileSync(join(folder, 'gateway.yaml'), GATEWAY.replace('port: 8080', 'port: 0'))
  const read = await readSource(folder)
  if ('problem' in read) throw new Error(read.problem)
  const { rendered, problems } = await loadRunnable(read)
  expect(rendered).toBeUndefined()
  expect(problems.map(({ path }) => path)).toContain('spec.listeners[0].port')
})
