// Runs the x-kubernetes-validations rules of a kind on an object whose structure is already known to be good.
import { Optional } from '@marcbachmann/cel-js'
import type { Problem } from '../problem.ts'
import { compileRule, readsOldSelf } from './cel/environment.ts'
import { fieldPath, indexPath, keyPath } from './path.ts'
import { isRecord } from '../json.ts'
import type { Rule, Semantics } from './semantics.ts'

/** One value, its CEL form, and the value at the same place before an update. */
interface RuleSubject {
  readonly value: unknown
  readonly self: unknown
  /** Absent: created, or not comparable. */
  readonly old: { readonly value: unknown; readonly self: unknown } | undefined
  readonly path: string
}

/** @param oldObject the object before an update; absent when it is created */
export function ruleProblems(root: Semantics, object: unknown, oldObject?: unknown): Problem[] {
  const old = oldObject === undefined ? undefined : { value: oldObject, self: toCel(root, oldObject) }
  const problems: Problem[] = []
  visit(root, { value: object, self: toCel(root, object), old, path: '' }, problems)
  return problems
}

function visit(node: Semantics, place: RuleSubject, problems: Problem[]): void {
  for (const rule of node.rules ?? []) {
    const problem = evaluate(rule, place)
    if (problem !== undefined) problems.push(problem)
  }
  if (Array.isArray(place.value)) visitItems(node, place, problems)
  else if (isRecord(place.value)) visitFields(node, place, problems)
}

function visitFields(node: Semantics, place: RuleSubject, problems: Problem[]): void {
  const { values } = node
  for (const [name, value] of Object.entries(isRecord(place.value) ? place.value : {})) {
    const isField = Object.hasOwn(node.fields ?? {}, name)
    const child = isField ? node.fields?.[name] : values
    if (child === undefined || value === null) continue
    const key = node.escaped?.[name] ?? name
    const path = isField ? fieldPath(place.path, name) : keyPath(place.path, name)
    visit(child, { value, self: read(place.self, key), old: oldField(place.old, name, key), path }, problems)
  }
}

function oldField(old: RuleSubject['old'], name: string, key: string): RuleSubject['old'] {
  if (old === undefined || !hasOwn(old.value, name)) return undefined
  return { value: read(old.value, name), self: read(old.self, key) }
}

function visitItems(node: Semantics, place: RuleSubject, problems: Problem[]): void {
  const { items: item } = node
  if (item === undefined || !Array.isArray(place.value)) return
  for (const [index, value] of place.value.entries()) {
    const old = oldItem(node, place.old, value)
    const self = read(place.self, String(index))
    visit(item, { value, self, old, path: indexPath(place.path, index) }, problems)
  }
}

/** Only entries of list-maps can be matched across an update. */
function oldItem(node: Semantics, old: RuleSubject['old'], value: unknown): RuleSubject['old'] {
  const { list } = node
  if (old === undefined || list === undefined || list === 'set' || !Array.isArray(old.value)) return undefined
  const index = old.value.findIndex((other: unknown) => list.every((key) => read(other, key) === read(value, key)))
  if (index < 0) return undefined
  return { value: old.value[index] as unknown, self: read(old.self, String(index)) }
}

function evaluate(rule: Rule, place: RuleSubject): Problem | undefined {
  const isTransition = readsOldSelf(rule.rule)
  if (isTransition && place.old === undefined && rule.optionalOldSelf !== true) return undefined
  const oldSelf = rule.optionalOldSelf === true ? optional(place.old) : place.old?.self
  const variables = isTransition ? { self: place.self, oldSelf } : { self: place.self }
  const verdict = attempt(() => compileRule(rule.rule)(variables))
  if ('value' in verdict && verdict.value === true) return undefined
  const message = messageOf(rule, variables)
  if ('error' in verdict) {
    const text = `${verdict.error} evaluating rule: ${message}`
    return { path: place.path, reason: 'FieldValueInvalid', message: text, severity: 'error' }
  }
  const path = `${place.path}${rule.fieldPath ?? ''}`.replace(/^\./, '')
  return { path, reason: rule.reason ?? 'FieldValueInvalid', message, severity: 'error' }
}

function optional(old: RuleSubject['old']): Optional {
  return old === undefined ? Optional.none() : Optional.of(old.self)
}

function messageOf(rule: Rule, variables: { self: unknown; oldSelf?: unknown }): string {
  const { messageExpression } = rule
  if (messageExpression !== undefined) {
    const text = attempt(() => compileRule(messageExpression)(variables))
    if ('value' in text && typeof text.value === 'string' && text.value.trim() !== '') return text.value
  }
  return rule.message ?? `failed rule: ${rule.rule.trim()}`
}

function attempt(run: () => unknown): { value: unknown } | { error: string } {
  try {
    return { value: run() }
  } catch (error) {
    return { error: error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error) }
  }
}

/** Integers become CEL ints; field names are escaped as rules write them. */
function toCel(node: Semantics | undefined, value: unknown): unknown {
  if (typeof value === 'number') return node?.double !== true && Number.isInteger(value) ? BigInt(value) : value
  if (Array.isArray(value)) {
    const item = node?.items
    return value.map((entry: unknown) => toCel(item, entry))
  }
  if (!isRecord(value)) return value
  const values = node?.values
  const entries = Object.entries(value).map(([name, child]) => {
    const known = Object.hasOwn(node?.fields ?? {}, name) ? node?.fields?.[name] : values
    return [node?.escaped?.[name] ?? name, toCel(known, child)] as const
  })
  return Object.fromEntries(entries)
}

function read(value: unknown, key: string): unknown {
  return hasOwn(value, key) ? (Reflect.get(Object(value), key) as unknown) : undefined
}

function hasOwn(value: unknown, key: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
}
