// Every form of the standalone file and its rendered configuration. UPDATE_GOLDEN=1 writes the outputs.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { validateConfig, validateSecrets } from '#api/ir/validate.ts'
import { compareGolden, goldenFolder, removeOrphans } from '#test/golden.ts'
import { loadStandalone } from './load.ts'

const ROOT = new URL('testdata', import.meta.url).pathname
const folder = goldenFolder(ROOT)

describe('loadStandalone, golden files', () => {
  it.each(folder.cases)('$name', (golden) => {
    const path = golden.inputPath
    const loaded = loadStandalone({ path, text: readFileSync(path, 'utf8'), environment: {} })
    const { rendered } = loaded
    const problems = loaded.problems.map((one) => ({ ...one, file: relative(ROOT, one.file) }))
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([])
    expect(validateConfig(rendered?.config)).toEqual([])
    expect(validateSecrets(rendered?.secrets)).toEqual([])
    const { expected, actual } = compareGolden(golden, { ...rendered, problems })
    expect(actual).toBe(expected)
  })

  it('has no output without an input', () => {
    expect(removeOrphans(ROOT, folder)).toEqual([])
  })
})
