// Credentials in files that a page shows: none is visible, everything else is, and the file comes back as it was.
import { readFileSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hideValues, showValues } from './hidden-values.ts'

const ROOT = join(import.meta.dirname, '../..')
const SECRET = 'zebra-zebra-zebra'

function hidden(text: string, known: readonly string[] = []): string {
  return hideValues(text, known)?.text ?? 'not YAML'
}

function restored(text: string): string {
  const found = hideValues(text, [])
  const shown = showValues(found?.text ?? '', found?.hidden ?? [])
  return 'problem' in shown ? shown.problem : shown.text
}

describe('hides', () => {
  it.each([
    [`llm: {models: [{params: {apiKey: ${SECRET}}}]}`, 'llm: {models: [{params: {apiKey: "<hidden:1>"}}]}'],
    [`backendAuth: ${SECRET}`, 'backendAuth: "<hidden:1>"'],
    [`backendAuth: {key: '${SECRET}'}`, 'backendAuth: {key: "<hidden:1>"}'],
    [`backendAuth: {key: {value: "${SECRET}"}}`, 'backendAuth: {key: {value: "<hidden:1>"}}'],
    [`apiKey: {keys: [{key: ${SECRET}}]}`, 'apiKey: {keys: [{key: "<hidden:1>"}]}'],
    [`config: {session: {key: ${SECRET}}}`, 'config: {session: {key: "<hidden:1>"}}'],
    [`basicAuth: {htpasswd: "a:${SECRET}"}`, 'basicAuth: {htpasswd: "<hidden:1>"}'],
    [`mcp: {targets: [{stdio: {env: {A: ${SECRET}}}}]}`, 'mcp: {targets: [{stdio: {env: {A: "<hidden:1>"}}}]}'],
    [`stdio: {args: [--token, ${SECRET}]}`, 'stdio: {args: [--token, "<hidden:1>"]}'],
    [`stdio: {args: ["--api-key=${SECRET}"]}`, 'stdio: {args: ["<hidden:1>"]}'],
    [`set: {Authorization: ${SECRET}}`, 'set: {Authorization: "<hidden:1>"}'],
    [`set: [{name: X-Api-Key, value: ${SECRET}}]`, 'set: [{name: X-Api-Key, value: "<hidden:1>"}]'],
    [`a: sk-live-${SECRET}`, 'a: "<hidden:1>"'],
    [`host: http://user:${SECRET}@a/`, 'host: "<hidden:1>"'],
    [`kind: Secret\nstringData: {a: ${SECRET}}`, 'kind: Secret\nstringData: {a: "<hidden:1>"}'],
    [`kind: Secret\ndata:\n  a: |\n    ${SECRET}\n    b\nx: 1`, 'kind: Secret\ndata:\n  a: "<hidden:1>"\nx: 1'],
    [`a: 1 # apiKey: ${SECRET}`, 'a: 1 #<hidden:1>'],
    [`apiKey: "\${KEY:-${SECRET}}"`, 'apiKey: "<hidden:1>"'],
    [`port: \${PORT:-80}\napiKey: ${SECRET}`, 'port: ${PORT:-80}\napiKey: "<hidden:1>"'],
  ])('in %j', (text, expected) => {
    expect(hidden(text)).toBe(expected)
    expect(restored(text)).toBe(text)
  })

  it('what the loader knows, at any place', () => {
    expect(hidden(`unknownField: a-${SECRET}-b`, [SECRET])).toBe('unknownField: a-<hidden:1>-b')
  })

  it('the longest of the values that begin at one place', () => {
    const text = `a: [${SECRET}, ${SECRET}-two, ${SECRET}]`
    expect(hidden(text, [SECRET, `${SECRET}-two`])).toBe('a: [<hidden:1>, <hidden:2>, <hidden:3>]')
  })
})

describe('shows', () => {
  it.each([
    'apiKey: $KEY',
    'apiKey: "${KEY}"',
    'backendAuth: {key: {file: /run/key}}',
    'tls: {cert: a.pem, key: a.key}',
    'descriptors: [{entries: [{key: tenant, value: request.path}]}]',
    'auth: {secretRef: {name: a, key: b}}',
    'jwtAuth: {jwks: {url: "https://issuer.example/keys"}}',
    'location: {header: {name: authorization, prefix: "Bearer "}}',
    'a: 1 # the key of the team',
  ])('%s', (text) => expect(hidden(text)).toBe(text))
})

it('does not show a text whose credentials it cannot find', () => {
  expect(hideValues('a: [', [])).toBeUndefined()
})

it.each(globSync(['config/samples/**/*.yaml', 'hack/quickstart/*.yaml'], { cwd: ROOT }))('restores %s', (file) => {
  const text = readFileSync(join(ROOT, file), 'utf8')
  expect(restored(text)).toBe(text)
})

describe('puts values back', () => {
  const { text = '', hidden: values = [] } = hideValues(`a: 1\napiKey: |\n  one\n  two\nb: 2\n`, []) ?? {}

  it('with the lines of the page for those of the file', () => {
    const shown = showValues(text, values)
    expect(text).toBe('a: 1\napiKey: "<hidden:1>"\nb: 2\n')
    expect('problem' in shown ? [] : [1, 2, 3, 4, 5].map((line) => shown.lineOf(line))).toEqual([1, 2, 2, 2, 3])
  })

  it('wherever the user has moved them, and names a mark without a value', () => {
    expect(showValues('apiKey: <hidden:1>', ['"x"'])).toMatchObject({ text: 'apiKey: "x"' })
    expect(showValues('a: 1\napiKey: "<hidden:7>"', ['x'])).toEqual({
      problem: 'the file has no hidden value 7',
      line: 2,
    })
  })
})

/** A square of them takes minutes. */
describe('of 100,000 values, in seconds', () => {
  const secrets = Array.from({ length: 100_000 }, (_, index) => `${SECRET}-${index}`)

  it('all are hidden that the loader knows', () => {
    const text = `text: |\n${secrets.map((secret) => `  another line, with ${secret}\n`).join('')}`
    expect(hideValues(text, secrets)?.hidden).toHaveLength(secrets.length)
  })

  it('all are shown', () => {
    const text = secrets.map((_, index) => `the line of a value: "<hidden:${index + 1}>"\n`).join('')
    const shown = showValues(text, secrets)
    expect('text' in shown && shown.text.split('\n').at(-2)).toBe(`the line of a value: ${secrets.at(-1)}`)
  })
})
