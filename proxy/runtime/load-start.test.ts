import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'

it.each([
  { place: 'a start', requests: 0, calls: 10_000, isOptimized: false },
  { place: 'a start', requests: 0, calls: 100_000, isOptimized: true },
  { place: 'a worker with few requests', requests: 99, calls: 10_000, isOptimized: false },
  { place: 'a worker with load', requests: 100, calls: 10_000, isOptimized: true },
])('V8 optimizes a function of $place after $calls calls: $isOptimized', ({ requests, calls, isOptimized }) => {
  const root = join(import.meta.dirname, '../..')
  const script = `
    await import(${JSON.stringify(join(root, 'cli/compiler-thresholds.ts'))})
    const { LoadStart } = await import(${JSON.stringify(join(root, 'proxy/runtime/load-start.ts'))})
    new LoadStart().look(${requests})
    const busy = new Function('n', 'return n * 2 + 1')
    const TURBOFAN = 64
    for (let i = 0; i < ${calls}; i++) busy(i)
    console.log((%GetOptimizationStatus(busy) & TURBOFAN) !== 0)`
  const options = { encoding: 'utf8', timeout: 30_000 } as const
  const args = ['--allow-natives-syntax', '--no-concurrent-recompilation', '--input-type=module', '-e', script]
  expect(execFileSync(process.execPath, args, options).trim()).toBe(String(isOptimized))
})
