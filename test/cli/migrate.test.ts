// gw migrate as users run it: the complete output, which is valid, and the report of what has no equal.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { gw, GwProcess, ROOT } from './gw.ts'

const FOLDER = 'test/cli/testdata/migrate'
const INGRESS = `${FOLDER}/ingress.yaml`
const MIGRATED = readFileSync(join(ROOT, FOLDER, 'gateway.yaml'), 'utf8')

describe('gw migrate ingress', () => {
  it('prints objects that are valid, and reports what has no equal', async () => {
    const { code, stdout, stderr } = await gw('migrate', 'ingress', INGRESS)
    expect(stdout).toBe(MIGRATED)
    expect(code).toBe(1)
    const report = stderr.trimEnd().split('\n')
    const expected = [
      [`${INGRESS}:10:5: warning: `, 'limit-rps]: nginx limits each client address'],
      [`${INGRESS}:16:5: warning: `, 'proxy-read-timeout]: not migrated; set timeouts.backendRequest'],
      [`${INGRESS}:61:13: warning: `, 'spec.rules[0].http.paths[1]: the rewrite to /v1/$2 is not migrated'],
      [`${INGRESS}:101:5: error: `, 'auth-url]: the Ingress is left out, because this protects it; add a GwPolicy'],
    ]
    expect(report).toHaveLength(expected.length)
    for (const [index, [start = '', text = '']] of expected.entries()) {
      expect(report[index]?.startsWith(start)).toBe(true)
      expect(report[index]).toContain(text)
    }
    const validated = new GwProcess(['validate', '--ignore-missing', '-'], {}, { input: stdout })
    expect((await validated.ended).code).toBe(0)
  })

  it('reports files without Ingresses, and files that it cannot read', { tags: ['full'] }, async () => {
    const none = await gw('migrate', 'ingress', `${FOLDER}/gateway.yaml`)
    const reason = `${FOLDER}/gateway.yaml: no Ingress of networking.k8s.io; pass files that contain one\n`
    expect([none.code, none.stderr]).toEqual([1, reason])
    const absent = await gw('migrate', 'ingress', 'absent.yaml')
    expect([absent.code, absent.stderr]).toEqual([1, expect.stringContaining('absent.yaml: error: ')])
  })
})

describe('gw migrate standalone', { tags: ['full'] }, () => {
  const FILE = 'gateways: {default: {port: 80}}\nroutes:\n  - backends: [{http: {hostname: a, port: 80}}]\n'

  it('prints a valid file, and reports what it left out with its line', async () => {
    const run = new GwProcess(['migrate', 'standalone', '-'], {}, { input: `${FILE}config: {pricing: {}}\n` })
    const { code, stdout, stderr } = await run.ended
    const expected = `${FILE.replace('http: {hostname: a, port: 80}', 'host: a:80')}config: {}`
    expect([code, stdout.trimEnd()]).toEqual([0, expected])
    expect(stderr).toBe('<stdin>:4:10: warning: config.pricing: is left out: use config.modelCatalog\n')
    expect((await new GwProcess(['validate', '-'], {}, { input: stdout }).ended).code).toBe(0)
  })

  it.each([
    [`${FILE}config: {caAuthToken: a}\n`, '<stdin>:4:10: error: config.caAuthToken: not migrated: is not supported'],
    ['apiVersion: v1\nkind: Service\n', 'must be one standalone file with one YAML document'],
    ['a: 1\n---\nb: 1\n', 'must be one standalone file with one YAML document'],
    ['', 'no configuration in this file'],
    ['a: [', '<stdin>:1:'],
  ])('fails for %j', async (input, message) => {
    const { code, stderr } = await new GwProcess(['migrate', 'standalone', '-'], {}, { input }).ended
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)])
  })
})
