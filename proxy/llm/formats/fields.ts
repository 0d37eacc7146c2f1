// The ledger of a format: how each field of its requests is handled. Every case is explicit; tests compare the ledgers
// with the declarations of the SDKs of the vendors.
import { isRecord } from '#api/json.ts'
import type { TranslationNotes } from '../canonical/format.ts'
import type { CacheMark, ChatRequest, Setting, SettingValues } from '../canonical/request.ts'
import type { JsonObject } from '../json.ts'
import { Untranslatable } from '../translate/untranslatable.ts'

/**
 * `mapped`: the canonical form has it. A text: why it is dropped. A function: whether the value has no effect, so that
 * it may be dropped; any other value is rejected. Null never has an effect.
 */
export type FieldRule = 'mapped' | { readonly dropped: string } | ((value: unknown) => boolean)

export type FieldRules = Readonly<Record<string, FieldRule>>

export const REFUSED: FieldRule = () => false
export const CACHE_HINT_REASON = 'a hint for the prompt cache; the response is the same without it'
export const CACHE_HINT: FieldRule = { dropped: CACHE_HINT_REASON }

/** @throws {Untranslatable} with the name of the first field that cannot be dropped, or is unknown. */
export function checkRequestFields(body: JsonObject, rules: FieldRules, notes: TranslationNotes): void {
  checkKnownFields(body, { rules, path: '', notes })
}

/** For objects of settings inside a request. @throws {Untranslatable} also for a field that is not in the ledger. */
export function checkKnownFields(object: JsonObject, check: FieldCheck): void {
  checkFields(object, check)
  const unknown = Object.keys(object).find((name) => !Object.hasOwn(check.rules, name) && isSet(object[name]))
  if (unknown !== undefined) throw unsupported(check.path + JSON.stringify(unknown.slice(0, NAME_CHARS_MAX)))
}

export interface FieldCheck {
  readonly rules: FieldRules
  /** In front of the names: `messages[0].`. */
  readonly path: string
  readonly notes: TranslationNotes
}

/**
 * For objects inside a request. Members outside of their format are ignored: clients send responses back with
 * whatever their library added. @throws {Untranslatable}
 */
export function checkFields(object: JsonObject, { rules, path, notes }: FieldCheck): void {
  for (const name of Object.keys(object)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
    const value = object[name]
    if (rule === undefined || rule === 'mapped' || !isSet(value)) continue
    if (typeof rule === 'object') notes.dropped(path + name, rule.dropped)
    else if (!rule(value)) throw unsupported(path + name + excerpt(value))
  }
}

/** How a format handles a setting of the canonical form when it encodes a request. */
export type SettingRule = FieldRule

export type SettingRules = { readonly [K in keyof SettingValues]-?: SettingRule }

/** @throws {Untranslatable} with the client's name of the first setting that the format cannot express. */
export function checkSettings({ settings }: ChatRequest, rules: SettingRules, notes: TranslationNotes): void {
  // Object.keys loses the type of the keys, which are exactly the names.
  for (const name of Object.keys(rules) as (keyof SettingValues)[]) {
    const rule = rules[name]
    const setting = settings[name]
    if (rule === 'mapped' || setting === undefined) continue
    if (typeof rule === 'object') notes.dropped(setting.at, rule.dropped)
    else if (!rule(setting.value)) throw unsupported(setting.shown)
  }
}

/** The mark of an object for the prompt cache: of the messages format, and an extension of the others. */
export function markOf({ cache_control: mark }: JsonObject): CacheMark | undefined {
  return isRecord(mark) ? mark : undefined
}

/** undefined: the client did not set it. */
export function setting<T>(value: T | undefined, at: string, written: unknown = value): Setting<T> | undefined {
  return value === undefined ? undefined : { value, at, shown: at + excerpt(written) }
}

/** @param what: the path of a field, or another part of the request. */
export function unsupported(what: string): Untranslatable {
  return new Untranslatable(`${what} is not supported by this provider`)
}

export function isSet(value: unknown): boolean {
  return value !== null && value !== undefined
}

export function isZero(value: unknown): boolean {
  return value === 0
}

export function isOne(value: unknown): boolean {
  return value === 1
}

export function isFalse(value: unknown): boolean {
  return value === false
}

export function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

export function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

/** Without the members that are undefined. */
export function defined(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** In quotation marks and short: values come from the client. */
export function quoted(value: unknown): string {
  return JSON.stringify(typeof value === 'string' ? value.slice(0, NAME_CHARS_MAX) : value)
}

const NAME_CHARS_MAX = 64

/** For short values, which are more specific than the name alone. */
function excerpt(value: unknown): string {
  return typeof value === 'number' || typeof value === 'boolean' ? ` ${value}` : ''
}
