import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { DEFAULT_THRESHOLDS } from './compiler-thresholds.ts'

it.each(Object.entries(DEFAULT_THRESHOLDS))('%s is the default of V8', (flag, count) => {
  const text = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8', timeout: 30_000 })
  const option = text.split('\n  --').find((one) => one.startsWith(`${flag.slice(2)} `)) ?? ''
  expect(Number(/default: \S+=(\d+)/.exec(option)?.[1])).toBe(count)
})
