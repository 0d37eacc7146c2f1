// The built-in patterns of prompt guards (data-plane supplement section 3.6). Each search takes time linear in the
// text: expressions of the platform are used only where a match has a bounded length.
import type { GuardBuiltin } from '#api/ir/types.gen.ts'
import { phoneNumbers } from './phone-numbers.ts'
import type { Match, Search } from './search.ts'

export interface BuiltinPattern {
  /** Written in place of a match. */
  readonly mask: string
  readonly search: Search
}

export const BUILTIN_PATTERNS: { readonly [B in GuardBuiltin]: BuiltinPattern } = {
  Ssn: {
    mask: '<SSN>',
    search: each([
      /\b\d{5}-\d{4}\b/g,
      /\b\d{3}-\d{6}\b/g,
      /\b\d{3}-\d{2}-\d{4}\b/g,
      /\b\d{9}\b/g,
      /\b\d{3}[- .]\d{2}[- .]\d{4}\b/g,
    ]),
  },
  CreditCard: {
    mask: '<CREDIT_CARD>',
    search: each([
      /\b(?:4\d{3}|5[0-5]\d{2}|6\d{3}|3\d{3})[- ]?\d{3,4}[- ]?\d{3,4}[- ]?\d{3,5}\b/g,
      /\b1\d{3}[- ]?\d{3,4}[- ]?\d{3,4}[- ]?\d{4,5}\b/g,
    ]),
  },
  PhoneNumber: { mask: '<PHONE_NUMBER>', search: phoneNumbers },
  Email: { mask: '<EMAIL_ADDRESS>', search: emailAddresses },
  CaSin: { mask: '<CA_SIN>', search: each([/\b\d{3}[- ]\d{3}[- ]\d{3}\b/g, /\b\d{9}\b/g]) },
}

/** `patterns`: of matches with a bounded length. */
function each(patterns: readonly RegExp[]): Search {
  return function* search(text) {
    for (const pattern of patterns) {
      for (const { 0: found, index } of text.matchAll(pattern)) yield { start: index, end: index + found.length }
    }
  }
}

const LOCAL_PART = /[A-Za-z0-9_.+-]/
const AT_DOMAIN = /@[A-Za-z0-9-]+\.[A-Za-z0-9.-]+/y

/**
 * `[A-Za-z0-9_.+-]+@[A-Za-z0-9-]+\.[A-Za-z0-9-.]+`, searched from each `@`: a long text of letters would make an
 * expression start again at each of them.
 */
function* emailAddresses(text: string): Generator<Match | undefined> {
  let searchedTo = 0
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    AT_DOMAIN.lastIndex = at
    const end = at + (AT_DOMAIN.exec(text)?.[0].length ?? 0)
    let start = at
    while (start > searchedTo && LOCAL_PART.test(text.charAt(start - 1))) start--
    searchedTo = Math.max(at + 1, end)
    yield end > at && start < at ? { start, end } : undefined
  }
}
