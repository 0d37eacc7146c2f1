// The published JSON Schema of the standalone file is up to date and agrees with gw validate.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { standaloneJsonSchema } from '#proxy/config/standalone/json-schema.ts'
import { loadStandalone } from '#proxy/config/standalone/load.ts'

const ROOT = join(import.meta.dirname, '..')
const FILE = join(ROOT, 'config/standalone/gw-standalone.schema.json')
const published = JSON.parse(readFileSync(FILE, 'utf8')) as object
const isValid = new Ajv2020({ strict: false, allErrors: true }).compile(published)

const SAMPLES = globSync(
  ['config/samples/standalone/*.yaml', 'proxy/config/standalone/testdata/*.in.yaml', 'hack/quickstart/*.yaml'],
  { cwd: ROOT },
).filter((file) => !/^(?:apiVersion|kind):/m.test(readFileSync(join(ROOT, file), 'utf8')))
const GATEWAY = 'gateways: { default: { port: 80 } }\n'
const route = (fields: string): string => `${GATEWAY}routes: [{ backends: [{ host: "a:1" }], ${fields} }]`
const policies = (fields: string): string => route(`policies: { ${fields} }`)

it('matches the loader: node hack/update-standalone-schema.ts writes it', () => {
  expect(published).toEqual(standaloneJsonSchema())
})

it('completes no field that the loader always rejects', () => {
  expect(JSON.stringify(published)).not.toContain('"not":')
  for (const field of ['serverTools', 'providerOverride']) {
    expect(JSON.stringify(published)).not.toContain(`"${field}":`)
  }
})

describe('valid for both', () => {
  it.each(SAMPLES)('%s, with its variables as written', (file) => {
    const text = readFileSync(join(ROOT, file), 'utf8')
    expect([isValid(parse(text)), isValid.errors ?? []]).toEqual([true, []])
  })

  it.each([
    GATEWAY,
    'gateways:\n  default:\n    port: ${PORT:-80}\n',
    policies('localRateLimit: [{ fillInterval: 1s }]'),
    policies('localRateLimit: { conditional: [{ condition: "true", fillInterval: 1s }] }'),
    policies('apiKey: { keys: [{ key: a }] }'),
    policies('authorization: { rules: ["true", { deny: "false" }] }'),
    policies('timeout: { requestTimeout: 1h30m }'),
    policies('cors: { allowOrigins: ["*"] }'),
    route('matches: [{ path: { exact: /a }, method: GET }]'),
    policies('oidc: {}'),
    policies('a2a: {}'),
    `$schema: gw-standalone.schema.json\n${GATEWAY}`,
  ])('%s', (text) => {
    expect([isValid(parse(text)), isValid.errors ?? []]).toEqual([true, []])
    expect(errorsOf(text)).toEqual([])
  })
})

describe('invalid for both', () => {
  it.each([
    'gatways: {}',
    'gateways: { a: {} }',
    'gateways: { a: { port: "80" } }',
    'gateways: { a: { port: 65536 } }',
    'gateways: { "a/b": { port: 1 } }',
    'gateways: []',
    'gateways: { a: { port: 1, protocol: FTP } }',
    `${GATEWAY}llm: {}`,
    `${GATEWAY}binds: [{ port: 1, listeners: [] }]`,
    `${GATEWAY}services: [{ name: a, ports: { x: 1 } }]`,
    route('matches: [{ path: { exact: a } }]'),
    route('matches: [{ path: { exact: /a, pathPrefix: /b } }]'),
    policies('localRateLimit: {}'),
    policies('localRateLimit: [{}]'),
    policies('timeout: { requestTimeout: 5 }'),
    policies('timeout: { requestTimeout: 5minutes }'),
    policies('cors: { allowOrigins: [shop.example] }'),
    policies('jwtAuth: { issuer: i }'),
    policies('jwtAuth: { mode: Strict, issuer: i, jwks: k }'),
    policies('apiKey: { keys: [] }'),
    policies('basicAuth: { mode: permissive, htpasswd: h }'),
    policies('authorization: { rules: [{ allow: "true", deny: "true" }] }'),
    policies('requestRedirect: { status: 200 }'),
    policies('a2a: { x: 1 }'),
    `${GATEWAY}routes: [{ backends: [{ host: "http://a:1" }] }]`,
    `${GATEWAY}routes: [{ backends: [{ hots: "a:1" }] }]`,
    `${GATEWAY}backends: [{ name: a, ai: { name: p, provider: { openAI: {}, anthropic: {} } } }]`,
  ])('%s', (text) => {
    expect(isValid(parse(text))).toBe(false)
    expect(errorsOf(text)).not.toEqual([])
  })
})

function errorsOf(text: string): string[] {
  const { problems } = loadStandalone({ path: 'f.yaml', text, environment: {} })
  return problems.flatMap(({ severity, path, message }) => (severity === 'error' ? [`${path}: ${message}`] : []))
}
