// Adds an example of a valid value to the messages of the API server: a pattern alone is hard to read. Pure.

interface Hinted {
  readonly path: string
  readonly message: string
  readonly meant?: string
}

/** By a part of the pattern; the first match applies. */
const EXAMPLES: readonly (readonly [part: string, example: string])[] = [
  ['(h|m|s|ms)', 'write a duration such as 500ms, 10s or 1h30m'],
  ['https?://', 'write an origin such as https://shop.example or https://*.shop.example, without a path'],
  ['(http(s)?):', 'write an origin such as https://shop.example or https://*.shop.example, without a path'],
  ["A-Za-z0-9!#$%&'", 'write a header name such as x-tenant'],
  [
    '(\\*\\.)?[a-z0-9]',
    'write a host name in lower case such as shop.example or *.shop.example, without scheme, port and path',
  ],
  ['[a-z0-9]([-a-z0-9]*[a-z0-9])?', 'write lower-case letters, digits and -, such as my-name'],
]
const PATTERN = /should match '(.*)'$/s
/** The expected type and that of the value. */
const WRONG_TYPE = /must be of type (\w+): "(\w+)"$/
const TYPE_CURES: ReadonlyMap<string, string> = new Map([
  ['array', 'write a list: an entry in each line, after -'],
  ['boolean', 'write true or false, without quotes'],
  ['integer', 'write a whole number, without quotes'],
  ['number', 'write a number, without quotes'],
  ['object', 'write a mapping of fields'],
])
const SCALARS: ReadonlySet<string> = new Set(['integer', 'number', 'boolean'])
/** The rule could not be evaluated: the value is malformed, which another message reports. */
const NOT_EVALUATED = / evaluating rule: /

export function withHints<T extends Hinted>(problems: readonly T[]): T[] {
  const malformed = new Set(problems.filter(({ message }) => PATTERN.test(message)).map(({ path }) => path))
  return problems
    .filter(({ path, message }) => !(NOT_EVALUATED.test(message) && malformed.has(path)))
    .map((problem) => {
      const hint = problem.meant === undefined ? hintOf(problem.message) : `did you mean ${problem.meant}?`
      return hint === undefined ? problem : { ...problem, message: `${problem.message}; ${hint}` }
    })
}

function hintOf(message: string): string | undefined {
  const [, expected = '', found = ''] = WRONG_TYPE.exec(message) ?? []
  if (expected === 'string' && SCALARS.has(found)) return 'put the value in quotes to make it a string'
  if (expected !== '') return TYPE_CURES.get(expected)
  const pattern = PATTERN.exec(message)?.[1]
  return pattern === undefined ? undefined : EXAMPLES.find(([part]) => pattern.includes(part))?.[1]
}
