// Random texts: the compiler gives an expression or a problem, an expression gives a value or a CelError, and both end.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '#test/run/runs.ts'
import { compileCel } from './compile.ts'
import { CelError } from './expression.ts'
import { HeaderView } from './values/header-view.ts'
import { QueryString } from './values/query-string.ts'

const TIME_LIMIT_MS = runs(4000, 1000)

const VARIABLES = {
  request: { headers: new HeaderView({ fields: ['a', 'b'] }), uri: new QueryString('/a?b=c'), path: '/a' },
  list_: [1n, 2n, 'x', null, 1.5, true],
  map_: new Map<unknown, unknown>([['a', 1n]]),
}

// oxfmt-ignore
const WORDS = [
  'request', 'request.headers', 'request.uri', 'list_', 'map_', 'x', 'y', '1', '-1', '0u', '1.5', '"a"', "'b'", 'b"c"', 'true',
  'null', '[', ']', '{', '}', '(', ')', ',', ':', '?', '.', '.?', '[?', '+', '-', '*', '/', '%', '&&', '||', '!', '==', '!=',
  '<', '<=', 'in', ' ', '\n', '// c\n', 'has(', '.map(x, ', '.all(x, ', '.exists(x, ', '.filter(x, ', '.with(x, ', '.size()',
  'string(', 'int(', 'json(', 'toJson(', 'default(', 'coalesce(', 'variables()', '.matches("a*")', '.replace("", "ab")',
  '.split("")', '.format([1])', 'math.greatest(', 'ip("::1")', 'cidr("::/0")', 'duration("1h")', 'timestamp(0)', '__proto__',
  'constructor', '\u0000', '\ud800', '😀', '`', '\\', '"""', 'r"', '9999999999999999999', '1e400',
]

/** The outcome as a word; anything else than the two allowed ones throws. */
function outcome(source: string): 'refused' | 'value' | 'error' {
  const compilation = compileCel(source)
  if ('problem' in compilation) {
    expect(compilation.problem.line).toBeGreaterThan(0)
    expect(compilation.problem.column).toBeGreaterThan(0)
    return 'refused'
  }
  try {
    compilation.expression.evaluate(VARIABLES)
    return 'value'
  } catch (error) {
    if (error instanceof CelError) return 'error'
    throw error
  }
}

describe('random texts', () => {
  it('never break the compiler or the evaluator', { tags: ['full'] }, () => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    console.log(`seed ${seed}`)
    const words = fc.array(fc.constantFrom(...WORDS), { maxLength: 30 }).map((parts) => parts.join(''))
    const text = fc.oneof({ weight: 5, arbitrary: words }, fc.string({ maxLength: 200 }), fc.string({ unit: 'binary' }))
    const seen = new Set<string>()
    fc.assert(
      fc.property(text, (source) => {
        seen.add(outcome(source))
      }),
      { seed, numRuns: 100_000, interruptAfterTimeLimit: TIME_LIMIT_MS, markInterruptAsFailure: false },
    )
    expect([...seen].sort()).toContain('refused')
    expect(seen.size).toBeGreaterThan(1)
  })
})
