// The parts of a route match beyond the path: method, header fields, query parameters. Compiled once, allocation-free.
import { re2 } from '#api/late-re2.ts'
import type { RouteMatch, StringMatch, ValueMatch } from '#api/ir/types.gen.ts'
import type { HttpRequest } from '../message/message.ts'

export type StringTest = (value: string) => boolean

/** undefined: matches everything. */
export type RequestTest = ((request: HttpRequest) => boolean) | undefined

export function compileRequestTest(match: RouteMatch): RequestTest {
  const tests = conditionsOf(match).map(({ test }) => test)
  const [only] = tests
  if (tests.length <= 1) return only
  return (request) => {
    for (const test of tests) if (!test(request)) return false
    return true
  }
}

/** A part of a match. */
export interface MatchCondition {
  /** For users, such as `header x-a: exactly "1"`. */
  readonly text: string
  readonly test: (request: HttpRequest) => boolean
}

/** The parts beyond the path, in the order in which they are tested. */
export function conditionsOf({ method, headers = [], query = [] }: RouteMatch): MatchCondition[] {
  return [
    ...(method === undefined
      ? []
      : [{ text: `method ${method}`, test: (request: HttpRequest) => request.method === method }]),
    ...headers.map((one) => ({ text: `header ${valueText(one)}`, test: headerTest(one) })),
    ...query.map((one) => ({ text: `query parameter ${valueText(one)}`, test: queryTest(one) })),
  ]
}

function valueText({ name, value: { exact, regex } }: ValueMatch): string {
  if (exact !== undefined) return `${name}: exactly ${JSON.stringify(exact)}`
  return regex === undefined ? name : `${name}: all of ${JSON.stringify(regex)} (regular expression)`
}

/** A regular expression that must match the whole text; an invalid one matches nothing. */
export function compileFullMatch(source: string): StringTest {
  const { RE2JS } = re2()
  try {
    const pattern = RE2JS.compile(source)
    return (value) => pattern.testExact(value)
  } catch {
    return () => false
  }
}

export function compileStringTest(match: StringMatch): StringTest {
  const { exact, regex } = match
  if (exact !== undefined) return (value) => value === exact
  return regex === undefined ? () => true : compileFullMatch(regex)
}

/** Any one of repeated fields may match. Pseudo-headers read the request line. */
function headerTest(match: ValueMatch): (request: HttpRequest) => boolean {
  const name = match.name.toLowerCase()
  const test = compileStringTest(match.value)
  switch (name) {
    case ':method':
      return (request) => test(request.method)
    case ':path':
      return (request) => test(request.pathAndQuery)
    case ':scheme':
      return (request) => test(request.scheme)
    case ':authority':
    case 'host':
      return (request) => test(request.host)
    default:
      return (request) => {
        const { fields } = request.headers
        for (let i = 0; i < fields.length; i += 2) if (fields[i] === name && test(fields[i + 1] ?? '')) return true
        return false
      }
  }
}

/** The last value of a repeated parameter counts. */
function queryTest(match: ValueMatch): (request: HttpRequest) => boolean {
  const { name } = match
  const test = compileStringTest(match.value)
  return (request) => {
    const value = lastQueryValue(request.query, name)
    return value !== undefined && test(value)
  }
}

/** Decoded value of the last parameter of that name; scans from the end. */
export function lastQueryValue(query: string, name: string): string | undefined {
  let end = query.length
  while (end > 0) {
    const start = query.lastIndexOf('&', end - 1) + 1
    const equals = query.indexOf('=', start)
    const keyEnd = equals < 0 || equals > end ? end : equals
    if (keyEnd > start && isKey(query, start, keyEnd, name)) {
      return keyEnd === end ? '' : decodeParameter(query.slice(keyEnd + 1, end))
    }
    end = start - 1
  }
  return undefined
}

function isKey(query: string, start: number, end: number, name: string): boolean {
  // An encoded name is never shorter than the name.
  if (end - start < name.length) return false
  const raw = query.slice(start, end)
  return isEncoded(raw) ? decodeParameter(raw) === name : raw === name
}

function isEncoded(text: string): boolean {
  return text.includes('%') || text.includes('+')
}

/** Form decoding; invalid escapes are kept. */
function decodeParameter(text: string): string {
  if (!isEncoded(text)) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return new URLSearchParams(`v=${text}`).get('v') ?? text
  }
}
