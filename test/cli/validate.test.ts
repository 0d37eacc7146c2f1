// gw validate, translate, help and completion through bin/gw.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { checkSources } from '#cli/source.ts'
import { gw, ROOT } from './gw.ts'

const MISTAKES = 'test/cli/testdata/ten-mistakes'

describe('gw validate', () => {
  it('reports ten mistakes in ten files, each with file, line, column and path', async () => {
    const { code, stdout, stderr } = await gw('validate', '-f', MISTAKES)
    expect([code, stdout]).toEqual([1, ''])
    const lines = stderr.trimEnd().split('\n')
    const places = lines.map((line) => line.replace(`${MISTAKES}/`, '').replace(': error: ', ': ').split(': ', 3))
    expect(places.map(([place, path]) => `${place} ${path}`)).toEqual([
      '01-not-yaml.yaml:9:1 not valid YAML',
      '02-unknown-field.yaml:9:7 spec.rules[0].backendRef',
      '03-unknown-kind.yaml:2:1 kind',
      '04-no-kind.yaml:1:1 kind',
      '05-no-name.yaml:3:1 metadata.name',
      '06-duplicate.yaml:13:3 metadata.name',
      '07-rule.yaml:5:1 spec',
      '08-port.yaml:27:7 spec.listeners[0].port',
      '09-expression.yaml:15:13 spec.traffic.authorization.policy.matchExpressions[0]',
      '10-missing-backend.yaml:10:11 spec.rules[0].backendRefs[0]',
      `${MISTAKES} 10 error(s)`,
    ])
    expect(lines[5]).toContain(`GwBackend default/echo is already defined in ${MISTAKES}/06-duplicate.yaml:1`)
    expect(lines[9]).toContain('default/ecco')
  })

  it('reports no problems in config/samples as a whole', { tags: ['full'] }, async () => {
    const result = await gw('validate', '-f', 'config/samples')
    expect(result).toEqual({ code: 0, stdout: 'config/samples: valid\n', stderr: '' })
  })

  it('reports no problems in each file and folder of config/samples', { tags: ['full'] }, async () => {
    const samples = join(ROOT, 'config/samples')
    const paths = [
      ...readdirSync(samples)
        .filter((name) => !name.endsWith('.md'))
        .map((name) => join(samples, name)),
      ...readdirSync(join(samples, 'standalone'))
        .filter((name) => name.endsWith('.yaml'))
        .map((name) => join(samples, 'standalone', name)),
    ]
    expect(paths.length).toBeGreaterThan(5)
    for (const path of paths) expect([path, await checkSources([path])]).toEqual([path, []])
  })

  it('warns about policies that older ones override', { tags: ['full'] }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gw-validate-'))
    const file = join(folder, 'twice.yaml')
    const sample = readFileSync(join(ROOT, 'config/samples/direct-response.yaml'), 'utf8')
    const policy = sample.split(/^---$/m).find((text) => text.includes('kind: GwPolicy')) ?? ''
    writeFileSync(file, `${sample}---${policy.replace(/^ {2}name: .*$/m, '  name: zz-second')}`)
    const { code, stdout, stderr } = await gw('validate', '-f', file)
    rmSync(folder, { recursive: true })
    expect([code, stdout]).toEqual([0, `${file}: valid, 1 warning(s)\n`])
    expect(stderr).toMatch(
      /twice\.yaml:\d+:\d+: warning: spec: traffic\.directResponse of .* is set by the older policy default\//,
    )
  })

  it('reports mistakes of a standalone file with the nearest valid name', async () => {
    const { code, stderr } = await gw('validate', '-f', 'test/cli/testdata/misspelt.yaml')
    expect(code).toBe(1)
    expect(stderr.split('\n')).toEqual([
      'test/cli/testdata/misspelt.yaml:2:3: error: gateways.default.port: is required',
      'test/cli/testdata/misspelt.yaml:3:5: error: gateways.default.prot: unknown field "prot"; did you mean port?',
      'test/cli/testdata/misspelt.yaml:6:7: error: routes[0].backends[0].hots: unknown field "hots"; did you mean host?',
      'test/cli/testdata/misspelt.yaml: 3 error(s)',
      '',
    ])
  })

  it('reports in one line that a path does not exist', { tags: ['full'] }, async () => {
    expect(await gw('validate', '-f', 'no/such/file')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'no/such/file: error: no such file or folder\n',
    })
  })
})

describe('gw translate', () => {
  it('prints rendered configuration and statuses of manifests, without the values of secrets', async () => {
    const { code, stdout, stderr } = await gw('translate', '-f', 'config/samples/quickstart')
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).not.toContain('demo-completions-key')
    expect(stdout).not.toContain(Buffer.from('demo-completions-key').toString('base64'))
    expect(parse(stdout)).toMatchObject({
      gateways: [
        { gateway: 'default/quickstart', secretKeys: expect.arrayContaining(['default/model-keys/messages']) },
      ],
      statuses: expect.arrayContaining([expect.objectContaining({ kind: 'Gateway', name: 'quickstart' })]),
    })
  })

  it(
    'prints a standalone file as JSON, without keys and without the environment of commands',
    { tags: ['full'] },
    async () => {
      const { code, stdout } = await gw('translate', '-f', 'test/cli/testdata/secrets.yaml', '-o', 'json')
      expect(code).toBe(0)
      expect(stdout).not.toContain('hidden')
      expect(JSON.parse(stdout)).toMatchObject({
        config: { binds: [{ key: 'bind/18080' }, { key: 'bind/18081' }] },
        secretKeys: ['standalone/routes[0].backends[0].policies.backendAuth'],
      })
    },
  )

  it('reports problems that only translation finds, with exit code 1', async () => {
    const { code, stderr } = await gw('translate', '-f', 'test/cli/testdata/broken-links')
    expect(code).toBe(1)
    expect(stderr.replaceAll('test/cli/testdata/broken-links/', '').trimEnd().split('\n')).toEqual([
      'gateway.yaml:24:13: error: spec.listeners[1].tls.certificateRefs[0]: secret default/missing not found',
      'routes.yaml:10:11: error: spec.rules[0].backendRefs[0]: backend(default/nowhere) not found: there is no GwBackend default/nowhere',
      'routes.yaml:19:3: error: spec.parentRefs: no hostnames matched parent hostname "a.example"; change spec.hostnames, or the listener',
      'routes.yaml:31:3: error: spec.parentRefs: sectionName "absent" not found; the parent has http, secure',
      'routes.yaml:36:11: error: spec.rules[0].backendRefs[0]: backend(web.default.svc.cluster.local) not found: there is no Service default/web',
    ])
  })
})

describe('gw help and completion', () => {
  it.each([
    [
      'run',
      ['--file', '--listen-address', '--admin-addr', '--stats-addr', '--readiness-addr', '--workers', 'Examples:'],
    ],
    ['validate', ['--file', 'Examples:']],
    ['translate', ['--file', '--output', 'Examples:']],
    ['version', ['Print the version']],
    ['completion', ['bash', 'zsh', 'fish']],
  ])('explains %s', { tags: ['full'] }, async (command, words) => {
    const { code, stdout } = await gw(command, '--help')
    expect([code, stdout.startsWith(`Usage: gw ${command}`)]).toEqual([0, true])
    for (const word of words) expect(stdout).toContain(word)
  })

  it('lists its commands, and reports wrong arguments', async () => {
    const help = await gw('--help')
    for (const command of ['run', 'validate', 'translate', 'version', 'completion']) {
      expect(help.stdout).toMatch(new RegExp(`^  ${command} `, 'm'))
    }
    const unknown = await gw('rum')
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("unknown command 'rum'")])
    const missing = await gw('validate')
    expect([missing.code, missing.stderr]).toEqual([
      1,
      expect.stringContaining('pass a file or folder, or - for standard input'),
    ])
  })

  it('prints its version', { tags: ['full'] }, async () => {
    const [plain, flag] = [await gw('version'), await gw('--version')]
    expect(plain.stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect(flag).toEqual(plain)
  })

  it.each(['bash', 'zsh', 'fish'])('writes a completion script for %s', { tags: ['full'] }, async (shell) => {
    const { code, stdout } = await gw('completion', shell)
    expect([code, stdout.includes('gw complete --')]).toEqual([0, true])
  })

  it('completes commands and flags', { tags: ['full'] }, async () => {
    expect((await gw('complete', '--', 'ru')).stdout).toMatch(/^run\t/)
    expect((await gw('complete', '--', 'translate', '--o')).stdout).toMatch(/^--output\t/m)
    expect((await gw('complete', '--', 'translate', '--output', '')).stdout).toMatch(/^yaml\t\njson\t\n/)
    expect((await gw('complete', '--', 'run', '-f', 'config/sam')).stdout).toMatch(/^config\/samples\/\t\n/)
    expect((await gw('complete', '--', 'run', '--file', 'config/samples/standalone/g')).stdout).toMatch(
      /^config\/samples\/standalone\/gateways\.yaml\t\n/,
    )
  })
})
