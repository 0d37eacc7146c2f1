import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { loadKubeConfig } from './kube-config.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-kube-config-'))
})

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

function problemOf(text: string | undefined): string {
  const file = join(folder, 'config')
  if (text !== undefined) writeFileSync(file, text)
  vi.stubEnv('KUBECONFIG', file)
  const outcome = loadKubeConfig()
  return 'problem' in outcome ? outcome.problem : ''
}

function kubeConfig({ server, context }: { readonly server: string; readonly context: string }): string {
  return JSON.stringify({
    clusters: [{ name: 'dev', cluster: { server } }],
    users: [{ name: 'me', user: { token: 'secret-token' } }],
    contexts: [{ name: 'dev', context: { cluster: 'dev', user: 'me' } }],
    'current-context': context,
  })
}

describe('loadKubeConfig', () => {
  it('accepts a usable cluster', () => {
    expect(problemOf(kubeConfig({ server: 'https://127.0.0.1:6443', context: 'dev' }))).toBe('')
  })

  it.each([
    ['a file that is not there', undefined, '/config does not exist; name another one'],
    ['invalid YAML', 'users:\n  - token: "secret-token\n', 'KUBECONFIG: the file is not valid YAML: '],
    ['no current context', kubeConfig({ server: 'https://127.0.0.1:6443', context: '' }), 'no current context'],
    ['another context', kubeConfig({ server: 'https://127.0.0.1:6443', context: 'x' }), 'no current context'],
    ['plain HTTP', kubeConfig({ server: 'http://127.0.0.1:6443', context: 'dev' }), 'cluster dev must be an https'],
  ])('names the cure and no part of the file: %s', (_, text, words) => {
    const problem = problemOf(text)
    expect(problem).toContain(words)
    expect(problem).not.toContain('secret-token')
    expect(problem).not.toContain('\n')
  })

  it('takes the file and the context that the user chose', () => {
    const file = join(folder, 'other')
    writeFileSync(file, kubeConfig({ server: 'https://127.0.0.1:6443', context: '' }))
    const outcome = loadKubeConfig({ kubeconfig: file, context: 'dev' })
    expect('config' in outcome && outcome.config.getCurrentContext()).toBe('dev')
    expect(loadKubeConfig({ kubeconfig: file, context: 'prod' })).toEqual({
      problem: `--context prod: --kubeconfig ${file} has the contexts dev`,
    })
    expect(loadKubeConfig({ kubeconfig: join(folder, 'absent') })).toEqual({
      problem: expect.stringMatching(/^--kubeconfig .*absent: the file does not exist; name another one$/),
    })
  })

  it('names the settings if no cluster is configured', () => {
    vi.stubEnv('KUBECONFIG', '')
    vi.stubEnv('HOME', folder)
    vi.stubEnv('USERPROFILE', folder)
    expect(loadKubeConfig()).toEqual({ problem: expect.stringContaining('set KUBECONFIG') })
  })
})
