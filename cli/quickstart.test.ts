import { describe, expect, it } from 'vitest'
import { loadStandalone } from '#proxy/config/standalone/load.ts'
import { SERVICES_IN_FILES } from '#proxy/config/standalone/schema/llm.ts'
import { QUICK_PROVIDERS, type QuickProvider, runSource, SMALLEST_FILE } from './quickstart.ts'

/** A value for every variable that a provider can have. */
const ALL_SET = new Proxy<Record<string, string>>({}, { get: () => 'key-of-the-test' })

describe('runSource', () => {
  it.each(QUICK_PROVIDERS)('%s is a valid standalone file', (provider) => {
    const source = runSource({ provider: provider as QuickProvider, port: 4001 }, ALL_SET)
    if ('problem' in source || source.text === undefined) throw new Error('no text')
    expect(source.text.text).not.toContain('key-of-the-test')
    const environment = Object.fromEntries(
      Array.from(source.text.text.matchAll(/\$\{(\w+)\}/g), ([, name = '']) => [name, 'key-of-the-test']),
    )
    const loaded = loadStandalone({ ...source.text, environment, keySets: () => undefined })
    expect(loaded.problems).toEqual([])
    expect(loaded.rendered?.config.binds).toMatchObject([{ port: 4001 }])
  })

  it('reads the file that the user named', () => {
    expect(runSource({ file: 'a.yaml' }, {})).toEqual({ path: 'a.yaml', text: undefined, notes: [] })
  })

  it.each([
    [{ file: 'a', provider: 'openai' }, '--file has all settings: omit --provider and --port'],
    [{ file: 'a', port: 1 }, '--file has all settings'],
    [{ provider: 'openai' }, 'OPENAI_API_KEY is not set; set it to the key of openai'],
    [{ provider: 'groq' }, 'GROQ_API_KEY is not set; set it to the key of groq'],
    [{ provider: 'vertex' }, 'GOOGLE_CLOUD_PROJECT is not set; set it to the id of the project with the models'],
  ] as const)('rejects %j', (flags, problem) => {
    expect(runSource(flags, { OPENAI_API_KEY: ' ' })).toEqual({ problem: expect.stringContaining(problem) })
  })

  it('has every provider of models that needs no address', () => {
    const names = [...SERVICES_IN_FILES.keys(), 'openai', 'anthropic', 'gemini', 'bedrock', 'vertex']
    expect(new Set(QUICK_PROVIDERS)).toEqual(new Set(names))
  })

  it('lists the ways to start, with the keys that are set', () => {
    expect(runSource({}, {})).toMatchObject({
      problem: expect.stringMatching(/\n {2}gw run --provider openai +with its key in OPENAI_API_KEY\n/),
    })
    expect(runSource({}, { GROQ_API_KEY: 'secret' })).toEqual({
      problem: [
        'gw run needs a provider of models or a file:',
        '  gw run --provider groq          GROQ_API_KEY is set',
        '  gw run --provider ollama        models of this machine, without a key',
        '  gw run -f FILE                  a standalone file, or a folder of Kubernetes manifests',
        'The smallest file serves the server of port 3000 on port 8080:',
        ...SMALLEST_FILE.map((line) => `  ${line}`),
      ].join('\n'),
    })
  })

  it('shows a valid file', () => {
    const text = SMALLEST_FILE.join('\n')
    expect(loadStandalone({ path: 'gw.yaml', text, environment: {} }).problems).toEqual([])
  })
})
