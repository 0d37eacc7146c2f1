// Local validation and a real API server agree: same verdict, same field paths, on every fixture and every limit case.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RULES_THAT_HOLD, SELF } from '../validate/cel/rule-cases.testing.ts'
import { type ApiServer, apiServerScript, startApiServer, testPort } from './apiserver.testing.ts'
import { crdFiles, loadCrdKinds } from './crd-schema.testing.ts'
import { compareKind } from './parity.testing.ts'
import { fixtureKinds, loadFixtures } from './testdata.testing.ts'

const START_MS = 120_000
const KIND_MS = 300_000

const script = apiServerScript()
if (script === undefined) console.log('skipped: no API server to compare with (GW_APISERVER)')

describe.skipIf(script === undefined)('the API server', { tags: ['full'] }, () => {
  let server: ApiServer
  const kinds = new Map(loadCrdKinds().map((kind) => [kind.name, kind]))

  beforeAll(async () => {
    server = await startApiServer(script ?? '', testPort())
    await server.installCrds(crdFiles())
  }, START_MS)

  afterAll(() => server.stop(), START_MS)

  it.each(fixtureKinds())(
    'agrees on %s',
    async (name) => {
      const kind = kinds.get(name)
      if (kind === undefined) throw new Error(`no CRD for testdata/${name}`)
      const { differences } = await compareKind(server, { kind, fixtures: loadFixtures(name), scope: 'distinct' })
      expect(differences.join('\n')).toBe('')
    },
    KIND_MS,
  )

  it('gives kubectl explain the descriptions of the schemas', async () => {
    const served = JSON.stringify(await server.get('/openapi/v3/apis/gw.dev/v1alpha1'))
    const isServed = (text: string): boolean => served.toLowerCase().includes(text.toLowerCase())
    expect([...kinds.keys()].filter((kind) => !isServed(`"dev.gw.v1alpha1.${kind}"`))).toEqual([])
    expect(isServed('Key of the label that is compared.')).toBe(true)
  })

  it('evaluates the functions of rules as local validation does', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gw-rules-'))
    const file = join(folder, 'crd.yaml')
    writeFileSync(file, JSON.stringify(ruleCrd()))
    await server.installCrds([file])
    const object = { apiVersion: 'rules.gw.dev/v1', kind: 'RuleCase', metadata: { name: 'a' }, spec: SELF }
    const verdict = await server.create({ plural: 'rulecases', isNamespaced: true }, object)
    expect(verdict.causes.map(({ message }) => message)).toEqual([])
    expect(verdict.accepted).toBe(true)
    rmSync(folder, { recursive: true })
  })
})

function ruleCrd(): unknown {
  const text = { type: 'string', maxLength: 100 }
  const list = (items: unknown) => ({ type: 'array', maxItems: 5, items })
  const spec = {
    type: 'object',
    properties: {
      text,
      url: text,
      nothing: text,
      list: list({ type: 'integer' }),
      names: list(text),
      items: list({ type: 'object', properties: { when: text } }),
      map: { type: 'object', maxProperties: 5, additionalProperties: text },
    },
    'x-kubernetes-validations': RULES_THAT_HOLD.map((rule) => ({ rule, message: `does not hold: ${rule}` })),
  }
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
  }
  const names = { kind: 'RuleCase', plural: 'rulecases', singular: 'rulecase', listKind: 'RuleCaseList' }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'rulecases.rules.gw.dev' },
    spec: { group: 'rules.gw.dev', scope: 'Namespaced', names, versions: [version] },
  }
}
