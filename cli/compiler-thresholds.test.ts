import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { THRESHOLDS } from './compiler-thresholds.ts'

const node = (...args: string[]): string => execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 30_000 })

it.each(Object.entries(THRESHOLDS))('%s is ten times the default of V8', (flag, count) => {
  const options = node('--v8-options').split('\n  --')
  const option = options.find((text) => text.startsWith(`${flag.slice(2)} `)) ?? ''
  expect(Number(/default: \S+=(\d+)/.exec(option)?.[1]) * 10).toBe(count)
})

it.each([
  { calls: 1000, isOptimized: false },
  { calls: 100_000, isOptimized: true },
])('V8 optimizes a function after many calls: $calls, $isOptimized', ({ calls, isOptimized }) => {
  const script = `
    await import(${JSON.stringify(join(import.meta.dirname, 'compiler-thresholds.ts'))})
    const busy = new Function('n', 'return n * 2 + 1')
    const OPTIMIZED = 16
    for (let i = 0; i < ${calls}; i++) busy(i)
    // V8 compiles in another thread.
    while (${isOptimized} && (%GetOptimizationStatus(busy) & OPTIMIZED) === 0) await new Promise(setImmediate), busy(1)
    console.log((%GetOptimizationStatus(busy) & OPTIMIZED) !== 0)`
  expect(node('--allow-natives-syntax', '--input-type=module', '-e', script).trim()).toBe(String(isOptimized))
})
