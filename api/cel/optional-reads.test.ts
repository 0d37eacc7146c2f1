import { expect, it } from 'vitest'
import { readsOf } from './compile.ts'
import type { CelReads } from './expression.ts'
import { optionalReads } from './optional-reads.ts'

function readsIn(text: string): CelReads {
  const found = readsOf(text)
  if ('problem' in found) throw new Error(found.problem.message)
  return found
}

function namesIn(...expressions: readonly string[]): string[] {
  const all = expressions.map(readsIn)
  return expressions.flatMap((text) => optionalReads(text, readsIn(text), all).map(({ name }) => name))
}

it.each<[string, string[]]>([
  ['request.headers["x-role"] == ""', ['request.headers.x-role']],
  ['request.headers["x-role"] != "a" && request.headers["x-role"] != "b"', ['request.headers.x-role']],
  ['!(jwt.sub == "ann" || apiKey.team == "x")', ['jwt.sub', 'apiKey.team']],
  ['jwt["realm"].roles[0] != "x"', ['jwt.realm']],
  ['source.spiffeId == "x" ? false : true', ['source.spiffeId']],
  ['!basicAuth.username.startsWith("!?")', ['basicAuth.username']],
])('%s may fail', (text, names) => {
  expect(namesIn(text)).toEqual(names)
})

it.each([
  'request.path == "/admin"',
  'request.headers["x-role"] == "guest"',
  'jwt.sub == "wow!" || apiKey.team == "x?"',
  'source.address == "10.0.0.1"',
  '"x-banned" in request.headers',
  "'x-role' in request.headers && request.headers['x-role'] == 'guest'",
  'has(jwt.sub) && jwt.sub == "ann"',
  'jwt.?sub.orValue("") == "ann"',
  'default(request.headers["x-role"], "") != "admin"',
  'has(source.spiffeId) && source.spiffeId == "x"',
  'variables().jwt.sub == "x"',
])('%s does not', (text) => {
  expect(namesIn(text)).toEqual([])
})

it('counts a test in another expression of the rule', () => {
  expect(namesIn('has(jwt.sub)', 'jwt.sub != "ann"')).toEqual([])
})

it('reports the position and the correction', () => {
  const text = 'request.headers["x-role"] != "guest"'
  const [problem] = optionalReads(text, readsIn(text), [])
  expect(problem).toMatchObject({ line: 1, message: expect.stringContaining('test it with has()') })
})
