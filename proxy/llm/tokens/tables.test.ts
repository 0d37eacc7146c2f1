// @module-tag full
import { describe, expect, it } from 'vitest'
import { TokenTable } from './table.ts'
import { readTokenTables } from './tables.ts'

describe('the vocabularies', () => {
  it('come in memory that threads share', async () => {
    const tables = await readTokenTables()
    for (const { bytes, starts, slots } of Object.values(tables)) {
      for (const { buffer } of [bytes, starts, slots]) expect(buffer).toBeInstanceOf(SharedArrayBuffer)
    }
    const text = Buffer.from('a hello')
    // The published ranks of ` hello`.
    expect(new TokenTable(tables.cl100k_base).rank(text, 1, 7)).toBe(24_748)
    expect(new TokenTable(tables.o200k_base).rank(text, 1, 7)).toBe(40_617)
    expect(new TokenTable(tables.o200k_base).rank(text, 0, 7)).toBe(-1)
  })

  it('report the error of a thread that cannot read them', async () => {
    const broken = new URL(`data:text/javascript,throw new Error('no vocabulary')`)
    await expect(readTokenTables(broken)).rejects.toThrow('no vocabulary')
  })
})
