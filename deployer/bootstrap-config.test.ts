import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { loadStandalone } from '#proxy/config/standalone/load.ts'
import { goldenFolder } from '#test/golden.ts'
import { bootstrapConfig, logLevelOf } from './bootstrap-config.ts'
import type { KubeObject } from './kube-object.ts'
import { type EffectiveParameters, effectiveParameters } from './parameters/effective.ts'
import { TEST_SETTINGS } from './input.testing.ts'

type Given = Partial<Pick<EffectiveParameters, 'rawConfig' | 'logging'>>

function parameters(given: Given): EffectiveParameters {
  return { ...effectiveParameters({ ofClass: undefined, ofGateway: undefined }, TEST_SETTINGS), ...given }
}

describe('bootstrapConfig', () => {
  it.each<[string, Given, unknown]>([
    ['nothing', {}, { config: {} }],
    ['typed fields', { logging: { format: 'json' } }, { config: { logging: { format: 'json' } } }],
    ['rawConfig', { rawConfig: { binds: [{ port: 1 }] } }, { binds: [{ port: 1 }], config: {} }],
    [
      'both, the typed field winning and the rest kept',
      { rawConfig: { config: { logging: { format: 'text', level: 'warn' }, x: 1 } }, logging: { format: 'json' } },
      { config: { logging: { format: 'json', level: 'warn' }, x: 1 } },
    ],
    [
      'a typed field over a value that is not a map',
      { rawConfig: { config: { logging: 'text' } }, logging: { format: 'json' } },
      { config: { logging: { format: 'json' } } },
    ],
    [
      'names that JavaScript knows',
      { rawConfig: JSON.parse('{"__proto__":{"a":1}}') },
      JSON.parse('{"__proto__":{"a":1},"config":{}}'),
    ],
  ])('of %s', (_, given, expected) => {
    expect(JSON.stringify(parse(bootstrapConfig(parameters(given))))).toBe(JSON.stringify(expected))
  })

  it('is the same text whatever the order of keys', () => {
    const one = bootstrapConfig(parameters({ rawConfig: { a: { x: 1, y: 2 }, b: 1 } }))
    expect(bootstrapConfig(parameters({ rawConfig: { b: 1, a: { y: 2, x: 1 } } }))).toBe(one)
  })
})

it.each<[Given, string | undefined]>([
  [{}, 'info'],
  [{ logging: { level: 'debug' } }, 'debug'],
  [{ rawConfig: { config: { logging: { level: 'warn' } } } }, undefined],
  [{ rawConfig: { config: { logging: { level: 'warn' } } }, logging: { level: 'debug' } }, 'debug'],
  [{ rawConfig: { config: { logging: {} } } }, 'info'],
  [{ rawConfig: { config: 'x' } }, 'info'],
])('the level of %j is %s', (given, level) => expect(logLevelOf(parameters(given))).toBe(level))

/** Its rawConfig holds what no proxy takes. */
const NOT_FOR_PROXIES = new Set(['yaml-injection'])

it('is what a proxy takes, in every golden', () => {
  let count = 0
  for (const { name, outputPath } of goldenFolder(join(import.meta.dirname, 'testdata')).cases) {
    // Written by our own golden test.
    const { objects } = parse(readFileSync(outputPath, 'utf8')) as { objects: (KubeObject & { data?: object })[] }
    const data = objects.find(({ kind }) => kind === 'ConfigMap')?.data ?? {}
    const text = Object.entries(data).find(([key]) => key === 'config.yaml')?.[1]
    if (typeof text !== 'string' || NOT_FOR_PROXIES.has(name)) continue
    const { problems } = loadStandalone({ path: 'config.yaml', text, environment: {}, isGenerated: true })
    expect([name, problems]).toEqual([name, []])
    count += 1
  }
  expect(count).toBeGreaterThan(40)
})
