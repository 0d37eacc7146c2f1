// Mistakes of new users, and the messages about them: the mistake, and the fix.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parseDocuments } from '#api/source/document.ts'
import { loadManifests } from '#cli/manifests/load.ts'
import { checkSources } from '#cli/source.ts'
import { loadStandalone } from '#proxy/config/standalone/load.ts'
import { gw } from './gw.ts'
import { firstOf } from '../run/table.ts'

const route = (fields: string): string =>
  `gateways: { default: { port: 80 } }\nroutes: [{ backends: [{ host: "a:1" }], ${fields} }]\n`
const policies = (fields: string): string => route(`policies: { ${fields} }`)
const backend = (fields: string): string => `gateways: { default: { port: 80 } }\nroutes: [{ backends: [${fields}] }]\n`

describe('mistakes in standalone files', () => {
  it.each([
    [policies('localRateLimit: {}'), 'localRateLimit: must be a list, not a mapping'],
    [policies('localRateLimit: { fillInterval: 1s }'), 'localRateLimit: must be a list, not a mapping'],
    [
      route('matches: [{ path: { regex: "/(a" } }]'),
      'path.regex: is not a valid regular expression (RE2 syntax): missing closing )',
    ],
    [route('matches: [{ path: { regex: "(?=a)" } }]'), '(RE2 syntax): invalid or unsupported Perl syntax'],
    [
      backend('{ host: "http://a.example:80" }'),
      'host: must be host:port, for example 127.0.0.1:8080 or [::1]:8080; remove the scheme',
    ],
    [backend('{ host: "HTTPS://a.example/x" }'), 'remove the scheme and the path, and set backendTLS for https'],
    [policies('timeout: { requestTimeout: 5minutes }'), 'such as 500ms, 10s or 1h30m'],
    [
      policies('timeout: { requestTimeout: 5 }'),
      'requestTimeout: must be a duration with a unit, such as 500ms, 10s or 1h30m',
    ],
    [
      policies('cors: { allowOrigins: [shop.example] }'),
      'must be *, or an origin such as https://shop.example or https://*.shop.example',
    ],
    [policies('cors: { allowOrigins: ["https://shop.example/"] }'), 'without a path'],
  ])('%s', (text, expected) => {
    const { problems } = loadStandalone({ path: 'f.yaml', text, environment: {} })
    expect(problems.map(({ path, message }) => `${path}: ${message}`)).toEqual([expect.stringContaining(expected)])
  })

  it.each(['*', 'https://shop.example', 'https://*.shop.example', 'http://localhost:3000', 'http://[::1]:80'])(
    'accepts the origin %s',
    (origin) => {
      const text = policies(`cors: { allowOrigins: ["${origin}"] }`)
      expect(loadStandalone({ path: 'f.yaml', text, environment: {} }).problems).toEqual([])
    },
  )
})

const traffic = (fields: string): string => `
apiVersion: gw.dev/v1alpha1
kind: GwPolicy
metadata: { name: p }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: Gateway, name: g }]
  traffic: { ${fields} }
`
const kind = (apiVersion: string, name: string): string =>
  `apiVersion: ${apiVersion}\nkind: ${name}\nmetadata: { name: x }\nspec: {}\n`

describe('mistakes in manifests', () => {
  it.each([
    [
      traffic('timeouts: { request: 5minutes }'),
      'error spec.traffic.timeouts.request',
      'write a duration such as 500ms, 10s or 1h30m',
    ],
    [
      traffic('timeouts: { request: 5 }'),
      'error spec.traffic.timeouts.request',
      'put the value in quotes to make it a string',
    ],
    [
      traffic('cors: { allowOrigins: [shop.example] }'),
      'error spec.traffic.cors.allowOrigins[0]',
      'write an origin such as https://shop.example',
    ],
    [
      traffic('timeouts: { request: 5s }').replace('metadata: { name: p }', 'metadata: { name: p, namespcae: shop }'),
      'error metadata.namespcae',
      'unknown field "metadata.namespcae"; did you mean namespace?',
    ],
    [
      traffic('cors: { allowOrigins: "https://shop.example" }'),
      'error spec.traffic.cors.allowOrigins',
      'must be of type array: "string"; write a list: an entry in each line, after -',
    ],
    [traffic('timeout: { request: 5s }'), 'error spec.traffic.timeout', 'did you mean timeouts?'],
    [
      kind('networking.k8s.io/v1', 'Ingress'),
      'warning kind',
      'Ingress of networking.k8s.io/v1 is not supported by Gw and has no effect; replace it with a Gateway and an HTTPRoute: gw migrate ingress translates it',
    ],
    [
      kind('networking.istio.io/v1', 'VirtualService'),
      'warning kind',
      'VirtualService of networking.istio.io/v1 is not supported by Gw',
    ],
    [kind('gw.dev/v1alpha1', 'GwRoute'), 'error kind', 'unknown kind GwRoute of gw.dev/v1alpha1'],
  ])('%s', (text, place, expected) => {
    const { problems } = loadManifests([{ path: 'f.yaml', text }])
    expect(problems.map(({ severity, path }) => `${severity} ${path}`)).toEqual([place])
    expect(problems[0]?.message).toContain(expected)
  })

  it.each([
    ['apps/v1', 'Deployment'],
    ['v1', 'ServiceAccount'],
    ['networking.k8s.io/v1', 'NetworkPolicy'],
    ['inference.networking.k8s.io/v1', 'InferencePool'],
    ['rbac.authorization.k8s.io/v1', 'Role'],
  ])('%s %s beside routes is not reported', (apiVersion, name) => {
    expect(loadManifests([{ path: 'f.yaml', text: kind(apiVersion, name) }]).problems).toEqual([])
  })
})

describe('mistakes in YAML', () => {
  it.each([
    ['gateways:\n\tdefault:\n\t\tport: 80\n', 2, 'Tabs are not allowed as indentation; use spaces'],
    ['a: 1\na: 2\n', 2, 'Map keys must be unique; this key is there already: remove one of the two'],
    ['routes: [{ name: "x, backends: [{host: "a:1"}] }]\n', 1, 'look for a missing quote, comma or bracket before it'],
    ['a:\n  b: c: d\n', 2, 'put a value that holds a colon and a space in quotes'],
    ['a:\n  - b: 1\n c: 2\n', 3, 'indent it as its neighbours'],
    ['a:\n  - b: 1\n   c: 2\n', 3, 'indent the line as its neighbours, or begin it with -'],
    ['a:\n  name: {{ .Values.name }}\n', 2, '{{ }} belongs to a template; render the template first'],
    ['{{- if .Values.on }}\na: 1\n{{- end }}\n', 1, '{{ }} belongs to a template; render the template first'],
    ['gateways\nroutes: []\n', 1, 'a colon or a quote is missing'],
    ['routes: [\n', 2, 'close the bracket'],
    ['routes: "abc\n', 2, 'Missing closing "quote'],
    ['a: 1\nb: @x\n', 2, 'put the value in quotes'],
    ['hostnames:\n- a.example\n- *.shop.example\n', 3, 'put text such as "*.example" in quotes'],
    ['hostnames: [a.example, *.shop.example]\n', 1, 'put text such as "*.example" in quotes'],
    ['use: *later\nbase: &later 1\n', 1, '* begins an alias of an anchor that is not there'],
  ])('%j', (text, line, expected) => {
    const loaded = [
      loadManifests([{ path: 'f.yaml', text }]).problems,
      loadStandalone({ path: 'f.yaml', text, environment: {} }).problems,
    ]
    for (const problems of loaded) {
      expect(problems.map((problem) => [problem.file, problem.line, problem.message])).toEqual([
        ['f.yaml', line, expect.stringContaining(expected)],
      ])
    }
  })
})

describe('braces that do not begin a template', () => {
  it.each(['a: "{{ x }}"\n', 'a: |\n  b: {{ x }}\n', 'a: { b: { c: 1 } }\n'])('%j', (text) => {
    expect(parseDocuments('f.yaml', text).problems).toEqual([])
  })
})

describe('large files', () => {
  const NAMES = Array.from({ length: 130_000 }, (_, index) => `unknown${index}`)

  it('with more mistakes than a call has room for arguments', { tags: ['full'] }, async () => {
    const text = `gateways: { default: { port: 80 } }\n${NAMES.map((name) => `${name}: 1`).join('\n')}\n`
    const { problems } = loadStandalone({ path: 'f.yaml', text, environment: {} })
    expect(problems.map(({ path, line }) => [path, line])).toEqual(NAMES.map((name, index) => [name, index + 2]))
    const folder = mkdtempSync(join(tmpdir(), 'gw-mistakes-'))
    const file = join(folder, 'f.yaml')
    writeFileSync(file, text)
    const found = await checkSources([file])
    rmSync(folder, { recursive: true })
    expect(found).toHaveLength(NAMES.length)
  })

  it('with each key twice', () => {
    const names = NAMES.slice(0, 10_000)
    const text = [...names, ...names].map((name) => `${name}: 1`).join('\n')
    const { problems } = parseDocuments('f.yaml', text)
    expect([problems.length, problems[0]?.line, problems.at(-1)?.line]).toEqual([10_000, 10_001, 20_000])
  })
})

it.each(['name: gw\nversion: 1\n', '{"compilerOptions": {"strict": true}}'])(
  'a file of another program: %j',
  (text) => {
    const { problems } = loadStandalone({ path: 'f.yaml', text, environment: {} })
    expect(problems).toMatchObject([
      {
        line: 1,
        column: 1,
        message: expect.stringMatching(/^is neither a standalone file, .* nor a Kubernetes manifest/),
      },
    ])
  },
)

describe('mistakes with files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gw-mistakes-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const at = (name: string): string => join(folder, name)
  const written = (name: string, content: string | Uint8Array): string => {
    writeFileSync(at(name), content)
    return name
  }
  const gateways = 'gateways: { default: { port: 80 } }\n'
  symlinkSync('loop-b.yaml', at('loop-a.yaml'))
  symlinkSync('loop-a.yaml', at('loop-b.yaml'))
  mkdirSync(at('empty'))
  mkdirSync(at('mixed'))
  written('mixed/a.yaml', gateways)
  written('mixed/b.yaml', Buffer.from([0x61, 0x0a, 0xff]))

  firstOf(3)([
    ['loop-a.yaml', 'loop-a.yaml: error: the link points to itself; make it point to a file'],
    ['nothing.yaml', 'nothing.yaml: error: no such file or folder'],
    [
      join(written('a.yaml', gateways), 'b.yaml'),
      'a.yaml/b.yaml: error: no such file or folder: a part of the path is a file',
    ],
    ['empty', 'empty: error: no .yaml, .yml or .json file in this folder'],
    [written('zero.yaml', ''), 'zero.yaml:1:1: error: the file is empty'],
    [
      written('bytes.yaml', Buffer.from([0x00, 0xff, 0xfe])),
      'bytes.yaml:1:1: error: is a binary file; pass YAML or JSON, saved as UTF-8',
    ],
    ['mixed', 'mixed/b.yaml:2:1: error: is not valid UTF-8; save the file as UTF-8'],
    [written('list.yaml', '[1, 2]\n'), 'list.yaml:1:1: error: must be a mapping, not a list'],
    [
      written('large.yaml', Buffer.alloc(16 * 1024 * 1024 + 1, '# a\n')),
      'large.yaml: error: larger than 16777216 bytes; split it',
    ],
  ])('gw validate -f %s', async (name, expected) => {
    const { code, stdout, stderr } = await gw('validate', '-f', at(name))
    const [first = '', ...more] = stderr.replaceAll(`${folder}/`, '').trimEnd().split('\n')
    expect([code, stdout, first]).toEqual([1, '', expected])
    expect(more.filter((line) => !line.endsWith(' error(s)'))).toEqual([])
  })

  firstOf(1)([
    ['loop-a.yaml', 'loop-a.yaml: the link points to itself; make it point to a file'],
    ['a.yaml/b.yaml', 'a.yaml/b.yaml: no such file or folder: a part of the path is a file'],
    ['bytes.yaml', 'bytes.yaml:1: is a binary file; pass YAML or JSON, saved as UTF-8'],
  ])('gw run -f %s', async (name, expected) => {
    const { code, stdout, stderr } = await gw('run', '-f', at(name))
    expect([code, stdout, stderr.replaceAll(`${folder}/`, '')]).toEqual([1, '', `${expected}\n`])
  })
})

describe('values of options', () => {
  it.each([
    [['run', '--provider', 'opnai'], 'openai'],
    [['run', '--log-format', 'jsno'], 'json'],
    [['validate', '-o', 'githbu', 'f.yaml'], 'github'],
  ])('%j: suggests %s', async (args, meant) => {
    const { code, stderr } = await gw(...args)
    expect([code, stderr]).toEqual([1, expect.stringContaining(`(Did you mean ${meant}?)`)])
  })

  it('suggests nothing for a value that is far from all', async () => {
    const { code, stderr } = await gw('run', '--provider', 'elsewhere')
    expect([code, stderr]).toEqual([1, expect.stringContaining('Allowed choices are openai')])
    expect(stderr).not.toContain('Did you mean')
  })

  it('suggests nothing for an unknown option that is far from all', async () => {
    const { code, stderr } = await gw('validate', '--xyzzy', 'f.yaml')
    expect([code, stderr.split('\n')[0]]).toEqual([1, "error: unknown option '--xyzzy'"])
    expect(stderr).not.toContain('Did you mean')
  })
})

it('asks for -f only where a file lacks it', { tags: ['full'] }, async () => {
  const { stderr } = await gw('run', '-f', 'f.yaml', '--workers', '0')
  expect(stderr).toContain('It must be an integer from 1 to 64')
  expect(stderr).not.toContain('Pass a file or folder with -f')
})

describe('commands', () => {
  const own = mkdtempSync(join(tmpdir(), 'gw-mistakes-'))
  afterAll(() => rmSync(own, { recursive: true }))
  const kubeconfig = join(own, 'kubeconfig')
  // No server has this port.
  const clusters = [{ name: 'dev', cluster: { server: 'https://127.0.0.1:9' } }]
  const contexts = [{ name: 'dev', context: { cluster: 'dev', user: '' } }]
  writeFileSync(kubeconfig, JSON.stringify({ clusters, contexts, 'current-context': 'dev' }))

  firstOf(2)([
    ['a file without -f', ['run', 'f.yaml'], 'Pass a file or folder with -f.'],
    ['a group without its command', ['migrate', 'f.yaml'], 'The commands of migrate are standalone, ingress.'],
    ['a file without -f, of translate', ['translate', 'f.yaml'], 'Pass a file or folder with -f.'],
    [
      'a file without Ingresses',
      ['migrate', 'ingress', kubeconfig],
      'kubeconfig: no Ingress of networking.k8s.io; pass',
    ],
    [
      'a web UI without a proxy',
      ['ui', '--local', '--no-open', '--admin-addr', 'localhost:9'],
      'check that a proxy runs there, or set --admin-addr',
    ],
    [
      'a cluster that is down',
      ['proxy', 'config', 'all', 'gateway/web', '--kubeconfig', kubeconfig],
      'check that the API server runs there, or choose another cluster with --context or KUBECONFIG',
    ],
  ])('%s', async (_, args, expected) => {
    const { code, stdout, stderr } = await gw(...args)
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(expected)])
  })
})
