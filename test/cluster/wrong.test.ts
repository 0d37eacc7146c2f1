// Wrong manifests with a real API server and the controller: each gets a status that names the field and the fix. A
// file of the folder `wrong` begins with the expected status; they refer to objects of `_right.yaml`.
// @module-tag full
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { testPort } from '../../api/v1alpha1/apiserver.testing.ts'
import { testOperator, type TestOperator } from '../../operator/controllers/operator.testing.ts'
import { until } from '../wait.ts'
import { missing, type RealApiServer, startRealApiServer } from './real-apiserver.ts'

const FOLDER = join(import.meta.dirname, 'wrong')
const SETUP_MS = 180_000
const STATUS_MS = 15_000

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

interface Expectation {
  /** Kind and name. */
  readonly object: string
  /** Part of the message of the API server, if it rejects the object: then there is no status. */
  readonly refused?: readonly string[]
  /** `Type=Status Reason` */
  readonly condition?: string
  /** Parts of its message. */
  readonly message?: readonly string[]
}

interface WrongCase {
  readonly name: string
  readonly expect: readonly Expectation[]
  readonly objects: readonly Manifest[]
}

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
}

const PLURALS: Readonly<Record<string, string>> = {
  GwPolicy: 'gwpolicies',
  BackendTLSPolicy: 'backendtlspolicies',
  GatewayClass: 'gatewayclasses',
}

const reason = missing()
if (reason !== undefined) console.log(`skipped: ${reason}`)

const cases = readdirSync(FOLDER)
  .filter((file) => !file.startsWith('_'))
  .map((file): WrongCase => {
    const [head, ...objects] = documentsOf(file)
    // Every file of the folder begins with it.
    return { name: file.replace(/\.yaml$/, ''), ...(head as Pick<WrongCase, 'expect'>), objects: objects as Manifest[] }
  })

function documentsOf(file: string): unknown[] {
  return parseAllDocuments(readFileSync(join(FOLDER, file), 'utf8')).map((document) => document.toJS() as unknown)
}

function pathOf({ apiVersion, kind, metadata: { name, namespace } }: Manifest): string {
  const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
  const plural = PLURALS[kind] ?? `${kind.toLowerCase()}${kind.endsWith('s') ? '' : 's'}`
  return namespace === undefined ? `${root}/${plural}/${name}` : `${root}/namespaces/${namespace}/${plural}/${name}`
}

/** Conditions of the object itself, its listeners, parents or ancestors. */
function conditionsOf(value: unknown): Condition[] {
  if (Array.isArray(value)) return value.flatMap(conditionsOf)
  if (typeof value !== 'object' || value === null) return []
  // An object with all of these is a condition of Kubernetes.
  if ('type' in value && 'reason' in value && 'message' in value) return [value as Condition]
  return Object.values(value).flatMap(conditionsOf)
}

describe('wrong manifests', () => {
  it('are at least twenty, with more than ten kinds of mistakes', () => {
    expect(cases.length).toBeGreaterThanOrEqual(20)
    const conditions = cases.flatMap((one) => one.expect.flatMap(({ condition }) => condition ?? []))
    expect(new Set(conditions.map((condition) => condition.split(' ')[1])).size).toBeGreaterThan(10)
  })
})

describe.skipIf(reason !== undefined)('wrong manifests on a real API server', () => {
  let server: RealApiServer
  let operator: TestOperator
  const refusals = new Map<string, string>()

  beforeAll(async () => {
    server = await startRealApiServer(testPort())
    for (const name of ['gw-system', 'shop', 'other']) {
      await server.apply(`/api/v1/namespaces/${name}`, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    }
    operator = await testOperator({ config: server.config })
    // Manifests of the folder.
    for (const object of documentsOf('_right.yaml') as Manifest[]) await server.apply(pathOf(object), object)
    for (const object of cases.flatMap(({ objects }) => objects)) await applyOrTell(object)
  }, SETUP_MS)

  afterAll(async () => {
    await operator.stop()
    await server.stop()
  }, SETUP_MS)

  async function applyOrTell(object: Manifest): Promise<void> {
    const { status, body } = await server.send({
      method: 'PATCH',
      path: `${pathOf(object)}?fieldManager=test&force=true`,
      body: object,
      contentType: 'application/apply-patch+yaml',
    })
    if (status >= 300) refusals.set(`${object.kind} ${object.metadata.name}`, JSON.stringify(body))
  }

  async function found(object: Manifest, condition: string): Promise<Condition> {
    let seen: Condition[] = []
    const find = (): Condition | undefined =>
      seen.find(({ type, status, reason: why }) => `${type}=${status} ${why}` === condition)
    const look = async (): Promise<boolean> => {
      const { body } = await server.send({ method: 'GET', path: pathOf(object) })
      seen = conditionsOf((body as { status?: unknown }).status) // every kind with a status
      return find() !== undefined
    }
    const there = await until(condition, look, STATUS_MS).then(find, () => undefined)
    if (there === undefined) throw new Error(`${condition} is not among ${JSON.stringify(seen)}`)
    return there
  }

  it.each(cases)('$name', async ({ expect: expected, objects }) => {
    expect.hasAssertions()
    for (const { object: name, refused, condition = '', message = [] } of expected) {
      const object = objects.find(({ kind, metadata }) => `${kind} ${metadata.name}` === name)
      if (object === undefined) throw new Error(`the file has no ${name}`)
      if (refused !== undefined) {
        for (const part of refused) expect(refusals.get(name)).toContain(part)
        continue
      }
      expect(refusals.get(name)).toBeUndefined()
      const actual = await found(object, condition)
      for (const part of message) expect(actual.message).toContain(part)
      expect(actual.message).not.toContain('secret-value')
    }
  })
})
