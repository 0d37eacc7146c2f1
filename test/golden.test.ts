import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { compareGolden, goldenFolder, readGolden, removeOrphans } from './golden.ts'

let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'golden-'))
  vi.stubEnv('UPDATE_GOLDEN', '')
  vi.stubEnv('CI', '')
})

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(root, { recursive: true })
})

function only(): ReturnType<typeof goldenFolder>['cases'][number] {
  const [golden] = goldenFolder(root).cases
  if (golden === undefined) throw new Error('no case')
  return golden
}

describe('golden files', () => {
  it('fails without an output and reports how to create it', () => {
    writeFileSync(join(root, 'a.in.yaml'), 'x: 1\n')
    const { expected, actual } = compareGolden(only(), { x: 1 })
    expect(actual).toBe('x: 1\n')
    expect(expected).toContain('UPDATE_GOLDEN=1')
  })

  it('writes outputs with UPDATE_GOLDEN=1, and then passes', () => {
    writeFileSync(join(root, 'a.in.yaml'), 'x: 1\n')
    vi.stubEnv('UPDATE_GOLDEN', '1')
    expect(compareGolden(only(), { x: 2 })).toEqual({ expected: 'x: 2\n', actual: 'x: 2\n' })
    expect(readFileSync(join(root, 'a.out.yaml'), 'utf8')).toBe('x: 2\n')
  })

  it('does not write in CI', () => {
    writeFileSync(join(root, 'a.in.yaml'), 'x: 1\n')
    vi.stubEnv('UPDATE_GOLDEN', '1')
    vi.stubEnv('CI', 'true')
    expect(() => compareGolden(only(), {})).toThrow('refused in CI')
  })

  it('reports outputs without inputs, and removes them only in an update', () => {
    writeFileSync(join(root, 'old.out.yaml'), 'x: 1\n')
    const folder = goldenFolder(root)
    expect(removeOrphans(root, folder)).toEqual(['old.out.yaml'])
    vi.stubEnv('UPDATE_GOLDEN', '1')
    expect(removeOrphans(root, folder)).toEqual([])
    expect(goldenFolder(root).orphans).toEqual([])
  })

  it('reads options from the head and rejects unknown ones, broken YAML and double keys', () => {
    const path = join(root, 'a.in.yaml')
    writeFileSync(path, '# What it shows.\n# option: className=other\nx: 1\n---\ny: 2\n')
    const { options, documents } = readGolden(path, ['className'])
    expect([...options]).toEqual([['className', 'other']])
    expect(documents).toEqual([{ x: 1 }, { y: 2 }])
    expect(() => readGolden(path, [])).toThrow('unknown option className')
    writeFileSync(path, 'x: 1\nx: 2\n')
    expect(() => readGolden(path)).toThrow('unique')
  })
})
