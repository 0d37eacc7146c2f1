// Telephone numbers in a text, for the built-in pattern PhoneNumber (data-plane supplement section 3.6).
import { isValidPhoneNumber, type CountryCode } from 'libphonenumber-js/max'
import type { Match } from './search.ts'

/** A number without a country code is one of these countries. */
const COUNTRIES: readonly CountryCode[] = ['US', 'GB', 'DE', 'IL', 'IN', 'CA', 'BR']
const CANDIDATE = /[+()]?\d[\d ().-]{6,30}/g
/** Fifteen (ITU-T E.164), behind the prefix of an international call. */
const DIGITS_MAX = 18
const DIGITS_MIN = 4
/** Parts of a candidate are shorter than most numbers by chance. */
const PART_DIGITS_MIN = 10
/** Texts with the same few numbers are checked once. */
const KNOWN_MAX = 1024

export function* phoneNumbers(text: string): Generator<Match | undefined> {
  const known = new Map<string, boolean>()
  for (const { 0: found, index } of text.matchAll(CANDIDATE)) {
    const candidate = found.replace(/\D+$/, '')
    if (isNumber(candidate, DIGITS_MIN, known)) yield { start: index, end: index + candidate.length }
    else yield* within(candidate, index, known)
  }
}

/** The shortest number from the start of each group of digits: the candidate may be several numbers. */
function* within(candidate: string, at: number, known: Map<string, boolean>): Generator<Match | undefined> {
  const groups = [...candidate.matchAll(/[+()]*\d+/g)].map(({ 0: digits, index }) => ({
    start: index,
    end: index + digits.length,
  }))
  let searchedTo = 0
  for (const { start } of groups) {
    if (start < searchedTo) continue
    const last = groups.find(({ end }) => end > start && isNumber(candidate.slice(start, end), PART_DIGITS_MIN, known))
    if (last !== undefined) searchedTo = last.end
    yield last === undefined ? undefined : { start: at + start, end: at + last.end }
  }
}

function isNumber(text: string, digitsMin: number, known: Map<string, boolean>): boolean {
  const digits = text.replaceAll(/\D/g, '').length
  if (digits < digitsMin || digits > DIGITS_MAX) return false
  const before = known.get(text)
  if (before !== undefined) return before
  const isValid = COUNTRIES.some((country) => isValidPhoneNumber(text, country))
  if (known.size < KNOWN_MAX) known.set(text, isValid)
  return isValid
}
