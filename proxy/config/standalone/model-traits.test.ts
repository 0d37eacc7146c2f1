import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startProxy } from '../../main.ts'
import { TraitsTable } from '../../llm/traits/table.ts'
import { parseTraits, readModelTraits } from './model-traits.ts'

const FILE = `models:
  - match: [prod-*-claude, 'team/x+y']
    like: claude-opus-4-8
    maxOutputTokens: 1000
  - match: llama-*
    thinking: Level
    efforts: [high, low]
`

describe('a file of model traits', () => {
  const { rows, mistakes } = parseTraits('traits.yaml', FILE)
  const table = new TraitsTable(rows)

  it.each([
    ['prod-eu-claude', { family: 'Claude', thinking: 'Adaptive', acceptsSampling: false, maxOutputTokens: 1000 }],
    ['team/x+y', { family: 'Claude', maxOutputTokens: 1000 }],
    ['team/xxy', { family: 'Other', thinking: 'Budget' }],
    ['prod-claude-2', { family: 'Claude', thinking: 'None' }],
    ['llama-4', { thinking: 'Level', efforts: ['low', 'high'] }],
    [`llama-${'x'.repeat(512)}`, { thinking: 'Budget' }],
  ])('gives %s its traits', (model, expected) => {
    expect(mistakes).toEqual([])
    expect(table.of(model)).toMatchObject(expected)
  })

  it.each([
    ['models: [', /^t\.yaml:1: /],
    ['', 't.yaml: must be one YAML document with models'],
    [
      'models:\n- match: a\n  thinkin: None\n',
      /^t\.yaml:3: models\[0\].thinkin: unknown field "thinkin"; did you mean/,
    ],
    ['models:\n- match: a\n  thinking: Much\n', /^t\.yaml:3: models\[0\]\.thinking: /],
    ['models:\n- like: claude-opus-5\n', /^t\.yaml:2: models\[0\]\.match: /],
    ['models:\n- match: a\n  maxOutputTokens: 0\n', /^t\.yaml:3: models\[0\]\.maxOutputTokens: /],
  ])('reports the mistake in %j', (text, expected) => {
    const parsed = parseTraits('t.yaml', text)
    expect(parsed.rows).toEqual([])
    expect(parsed.mistakes).toEqual([expect.stringMatching(expected)])
  })
})

it('a proxy does not start with a file that is missing or wrong', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gw-traits-'))
  try {
    const good = join(folder, 'good.yaml')
    writeFileSync(good, FILE)
    const missing = join(folder, 'missing.yaml')
    expect(readModelTraits([good, missing])).toMatchObject({
      mistakes: [`${missing} cannot be read: it does not exist`],
    })
    const started = startProxy({ modelTraitsPaths: [missing] }, {})
    await expect(started).rejects.toThrow(`MODEL_TRAITS_PATHS: ${missing} cannot be read: it does not exist`)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
