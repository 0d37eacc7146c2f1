// gw validate in pipelines: several paths, incomplete manifests, and problems for programs.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { loadManifests } from '#cli/manifests/load.ts'
import { withoutMissing } from '#cli/manifests/missing.ts'
import { checkSources } from '#cli/source.ts'
import { gw } from './gw.ts'

const folder = mkdtempSync(join(tmpdir(), 'gw-validate-flags-'))
const write = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const GATEWAY = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: g }
spec:
  gatewayClassName: gw
  listeners: [{ name: a, port: 443, protocol: HTTPS, tls: { certificateRefs: [{ name: cert }] } }]
`
const rule = (backend: string): string => `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: r }
spec: { parentRefs: [{ name: g, sectionName: a }], rules: [{ backendRefs: [${backend}] }] }
`
const policy = (fields: string, target = 'kind: Gateway, name: g'): string => `
apiVersion: gw.dev/v1alpha1
kind: GwPolicy
metadata: { name: p }
spec: { targetRefs: [{ group: gateway.networking.k8s.io, ${target} }], traffic: { ${fields} } }
`
const ANSWER = 'directResponse: { status: 200 }'
const MISSING: readonly (readonly [string, string])[] = [
  ['a Service', rule('{ name: web, port: 80 }')],
  ['a GwBackend', rule('{ name: web, kind: GwBackend, group: gw.dev }')],
  ['a Service of another namespace, with its grant', rule('{ name: web, namespace: other, port: 80 }')],
  ['a Secret', policy('basicAuthentication: { secretRef: { name: users } }')],
  ['a Gateway that a policy is about', policy(ANSWER, 'kind: Gateway, name: other')],
  ['a route that a policy is about', policy(ANSWER, 'kind: HTTPRoute, name: other')],
]

afterAll(() => rmSync(folder, { recursive: true }))

describe('--ignore-missing turns into a warning', () => {
  it.each(MISSING)('%s', async (_, manifest) => {
    const path = write('missing.yaml', [GATEWAY, manifest].join('---'))
    const severities = async (isMissingIgnored: boolean): Promise<string[]> =>
      (await checkSources([path], { isMissingIgnored })).map(({ severity }) => severity)
    expect(await severities(false)).toContain('error')
    expect(await severities(true)).toEqual(['warning', 'warning'])
  })

  it.each([
    [
      'a part that an object of the files does not have',
      rule('{ name: g, port: 80 }').replace('sectionName: a', 'sectionName: b'),
    ],
    ['a list without items', policy('jwtAuthentication: { providers: [] }')],
    ['a misspelt field', policy('directRespons: { status: 200 }')],
  ])('no mistake in the files: %s', { tags: ['full'] }, async (_, manifest) => {
    const path = write('wrong.yaml', [GATEWAY, manifest].join('---'))
    const problems = await checkSources([path], { isMissingIgnored: true })
    expect(problems.filter(({ severity }) => severity === 'error')).toHaveLength(1)
  })
})

it('--ignore-missing keeps an error about an object that exists', () => {
  const message = 'ConfigMap default/ca not found, or has no PEM certificate under ca.crt'
  const problem = { file: 'f', line: 1, column: 1, path: 'spec', message, severity: 'error' } as const
  const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ca }\n'
  const severitiesWith = (manifest: string): string[] =>
    withoutMissing([problem], loadManifests([{ path: 'f', text: manifest }])).map(({ severity }) => severity)
  expect(severitiesWith(text)).toEqual(['error'])
  expect(severitiesWith(text.replace('name: ca', 'name: other'))).toEqual(['warning'])
})

describe('gw validate', () => {
  it('reads several paths, with and without -f, as one set of manifests', { tags: ['full'] }, async () => {
    const [gateway, route] = [
      write('gateway.yaml', GATEWAY.replace('HTTPS, tls: { certificateRefs: [{ name: cert }] }', 'HTTP')),
      write('route.yaml', rule('{ name: web, port: 80 }')),
    ]
    const service = write(
      'service.yaml',
      'apiVersion: v1\nkind: Service\nmetadata: { name: web }\nspec: { ports: [{ port: 80 }] }\n',
    )
    const standalone = write('alone.yaml', 'gateways: { default: { port: 8080 } }\n')
    const result = await gw('validate', gateway, route, '-f', service, '-f', standalone)
    const paths = [service, standalone, gateway, route].join(', ')
    expect(result).toEqual({ code: 0, stdout: `${paths}: valid\n`, stderr: '' })
  })

  it('prints JSON with every field', { tags: ['full'] }, async () => {
    const path = write('broken.yaml', 'gateways: { default: { prot: 8080 } }\n')
    const { code, stdout, stderr } = await gw('validate', '-o', 'json', path, join(folder, 'absent'))
    expect([code, stderr]).toEqual([1, ''])
    expect(JSON.parse(stdout)).toEqual([
      {
        file: join(folder, 'absent'),
        line: 0,
        column: 0,
        path: '',
        level: 'error',
        reason: 'Unreadable',
        message: 'no such file or folder',
        fix: null,
      },
      {
        file: path,
        line: 1,
        column: 13,
        path: 'gateways.default.port',
        level: 'error',
        reason: 'Invalid',
        message: 'is required',
        fix: null,
      },
      {
        file: path,
        line: 1,
        column: 24,
        path: 'gateways.default.prot',
        level: 'error',
        reason: 'Invalid',
        message: 'unknown field "prot"; did you mean port?',
        fix: 'did you mean port?',
      },
    ])
    const valid = write('valid.yaml', 'gateways: { default: { port: 8080 } }\n')
    expect(await gw('validate', '-o', 'json', valid)).toEqual({ code: 0, stdout: '[]\n', stderr: '' })
  })

  it('prints the reasons of statuses', { tags: ['full'] }, async () => {
    const path = write('reasons.yaml', [GATEWAY, rule('{ name: web, port: 80 }')].join('---'))
    const { stdout } = await gw('validate', '-o', 'json', path)
    const reasons = JSON.parse(stdout) as { reason: string }[]
    expect(reasons.map(({ reason }) => reason)).toEqual(['InvalidCertificateRef', 'BackendNotFound'])
  })

  it('prints annotations of GitHub, in which no text is a command', { tags: ['full'] }, async () => {
    const path = write('git,hub:%.yaml', 'gateways: { default: { port: 1, "a,b:\\n::error::%": 1 } }\n')
    const { code, stdout } = await gw('validate', path, '-o', 'github')
    expect(code).toBe(1)
    expect(stdout.split('\n')).toHaveLength(2)
    const file = path.replace('git,hub:%', 'git%2Chub%3A%25')
    const title = 'gateways.default["a%2Cb%3A\\n%3A%3Aerror%3A%3A%25"]'
    expect(stdout).toContain(`::error file=${file},line=1,col=13,title=${title}::unknown field "a,b:\\n::error::%25"`)
  })
})
