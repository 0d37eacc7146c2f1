// Functions declared as text: what they compute, what they read, and which declarations are rejected where.
import { describe, expect, it } from 'vitest'
import { compileIn } from './compile.ts'
import type { CelVariables } from './expression.ts'
import { compileUserFunctions } from './user-functions.ts'

const DECLARATIONS = `
# Twice the value. A } in a comment closes nothing.
twice(x) { x * 2 }
this.wrap(left, right) { left + this + right } // } nor here
quad(x) {
  twice(twice(x))
}
first(a, rest...) { {"first": a, "count": size(rest), "brace": "}"} }
this.pick(names...) { names.filter(n, n in this).map(n, this[n]) }
isAdmin() { "admin" in jwt.roles && request.path.startsWith("/admin") }
shadow(request) { request.path }
answer() { 42 }
`

function evaluate(source: string, variables: CelVariables = {}): unknown {
  return expression(source).evaluate(variables)
}

function expression(source: string): ReturnType<typeof compiled> {
  return compiled(source)
}

function compiled(source: string) {
  const functions = compileUserFunctions(DECLARATIONS)
  if ('problem' in functions) throw new Error(JSON.stringify(functions.problem))
  const compilation = compileIn(functions.environment, source)
  if ('problem' in compilation) throw new Error(compilation.problem.message)
  return compilation.expression
}

describe('user functions', () => {
  it.each<[string, unknown]>([
    ['twice(21)', 42n],
    ['quad(twice(1))', 8n],
    ['"a".wrap("<", ">")', '<a>'],
    ['"a".wrap("<", ">").wrap("[", "]")', '[<a>]'],
    ['first(1, 2, 3).count + first(1).count', 2n],
    ['first(1).brace', '}'],
    ['{"a": 1, "b": 2}.pick("b", "c", "a")', [2n, 1n]],
    ['[1, 2].map(x, twice(x))', [2n, 4n]],
    ['[1].map(x, [2].map(y, twice(x) + twice(y)))', [[6n]]],
    ['isAdmin()', true],
    ['shadow({"path": "p"}) + request.path', 'p/admin/x'],
    ['answer()', 42n],
  ])('%s', (source, expected) => {
    const variables = { jwt: { roles: ['admin'] }, request: { path: '/admin/x' } }
    expect(evaluate(source, variables)).toEqual(expected)
  })

  it('add their reads to those of their callers, and parameters hide variables', () => {
    expect([...expression('isAdmin()').references].sort()).toEqual(['jwt', 'jwt.roles', 'request', 'request.path'])
    expect([...expression('shadow(1)').references]).toEqual([])
  })

  it('can read only their own parameters, not the locals of the caller', () => {
    const functions = compileUserFunctions('leak() { x }')
    const compilation = 'environment' in functions ? compileIn(functions.environment, '[1].map(x, leak())') : functions
    expect('expression' in compilation && [...compilation.expression.references]).toEqual(['x'])
  })

  it.each([
    ['a() { a() }', 1, 1, 'calls itself'],
    ['a() { b() }\nb() { a() }', 1, 1, 'calls itself'],
    ['a() { 1 }\na(x) { 2 }', 2, 1, 'declared more than once'],
    ['size(x) { 1 }', 1, 1, 'built-in'],
    ['default(x, y) { 1 }', 1, 1, 'built-in'],
    ['this.map(x) { 1 }', 1, 1, 'built-in'],
    ['math() { 1 }', 1, 1, 'built-in'],
    ['string(x) { 1 }', 1, 1, 'built-in'],
    ['a(x, x) { 1 }', 1, 1, 'same name'],
    ['a(x..., y) { 1 }', 1, 1, 'last parameter'],
    ['a(1) { 1 }', 1, 1, 'not a name'],
    ['a() { 1', 1, 5, 'not closed'],
    ['a() {\n 1 + \n}', 3, 1, 'Unexpected'],
    ['  a() { nope() }', 1, 3, 'undeclared function nope'],
    ['a() { 1 } b', 1, 11, 'expected a declaration'],
  ])('refuses %j at line %d, column %d: %s', (text, line, column, message) => {
    expect(compileUserFunctions(text)).toEqual({ problem: { line, column, message: expect.stringContaining(message) } })
  })

  it('cannot grow without bound', () => {
    const levels = Array.from({ length: 40 }, (_, i) => `f${i + 1}(x) { f${i}(x) + f${i}(x) }`)
    const outcome = compileUserFunctions(['f0(x) { x }', ...levels].join('\n'))
    expect(outcome).toEqual({ problem: expect.objectContaining({ message: expect.stringContaining('too large') }) })
  })

  it('accepts a text without functions', () => {
    expect(compileUserFunctions(' # nothing\n')).toHaveProperty('environment')
  })
})
