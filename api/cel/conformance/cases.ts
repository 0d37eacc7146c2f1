// The public conformance cases of the language, as far as they need no protobuf messages. Test data only; not shipped.
import { getConformanceSuite, type IncrementalTestSuite } from '@bufbuild/cel-spec/testdata/tests.js'

/** One case of the public suite, in the terms of this engine. */
export interface ConformanceCase {
  /** `section/group/name`, made unique by a number where the suite repeats a name. */
  readonly id: string
  readonly section: string
  readonly expression: string
  readonly variables: Readonly<Record<string, SpecValue>>
  /** Undefined: the evaluation (or the compilation) must fail. */
  readonly expected: SpecValue | undefined
}

/** A value as the suite spells it: the kind and its content. */
export interface SpecValue {
  readonly kind: string
  readonly content: unknown
}

/** Sections left out as a whole, with the reason. */
export const EXCLUDED_SECTIONS: Readonly<Record<string, string>> = {
  block_ext: '`cel.block` is the output of an optimiser, not something people write',
  dynamic: 'protobuf wrapper and struct messages',
  enums: 'protobuf enums',
  proto2: 'protobuf messages',
  proto2_ext: 'protobuf extensions',
  proto3: 'protobuf messages',
  unknowns: 'the section is empty',
  wrappers: 'protobuf wrapper messages',
}

/**
 * Words that occur only in cases about protobuf messages. Durations and timestamps are types of the language itself.
 */
const PROTOBUF = /TestAllTypes|GlobalEnum|NestedEnum|google\.protobuf\.(?!(?:Duration|Timestamp)\b(?!\s*\{))\w+/

interface Collected {
  readonly cases: readonly ConformanceCase[]
  /** Single cases left out because they need messages, by section. */
  readonly skippedBySection: ReadonlyMap<string, number>
}

export function conformanceCases(): Collected {
  const cases: ConformanceCase[] = []
  const skipped = new Map<string, number>()
  const seen = new Map<string, number>()
  for (const section of getConformanceSuite().suites) {
    if (Object.hasOwn(EXCLUDED_SECTIONS, section.name)) continue
    for (const { group, test } of testsOf(section, [])) {
      if (isOutOfScope(test)) {
        skipped.set(section.name, (skipped.get(section.name) ?? 0) + 1)
        continue
      }
      const name = [section.name, ...group, test.name].join('/')
      const count = (seen.get(name) ?? 0) + 1
      seen.set(name, count)
      cases.push(toCase(count === 1 ? name : `${name}#${count}`, section.name, test))
    }
  }
  return { cases, skippedBySection: skipped }
}

type SpecTest = IncrementalTestSuite['tests'][number]['original']

function testsOf(
  suite: IncrementalTestSuite,
  group: readonly string[],
): { readonly group: readonly string[]; readonly test: SpecTest }[] {
  const nested = suite.suites.flatMap((inner) => testsOf(inner, [...group, inner.name]))
  return [...suite.tests.map(({ original }) => ({ group, test: original })), ...nested]
}

function isOutOfScope(test: SpecTest): boolean {
  // Static types only: there is nothing to evaluate.
  if (test.resultMatcher.case === 'typedResult' && test.resultMatcher.value.result === undefined) return true
  if (test.container.startsWith('cel.expr.conformance') || PROTOBUF.test(test.expr)) return true
  const values = [expectedOf(test), ...Object.values(test.bindings).map(bindingValue)]
  return values.some((value) => value?.kind === 'objectValue' || value?.kind === 'enumValue')
}

function toCase(id: string, section: string, test: SpecTest): ConformanceCase {
  const variables: Record<string, SpecValue> = {}
  for (const [name, binding] of Object.entries(test.bindings)) {
    const value = bindingValue(binding)
    if (value !== undefined) variables[name] = value
  }
  return { id, section, expression: test.expr, variables, expected: expectedOf(test) }
}

/** No matcher means: true. */
function expectedOf(test: SpecTest): SpecValue | undefined {
  const { resultMatcher } = test
  if (resultMatcher.case === 'value') return specValue(resultMatcher.value)
  if (resultMatcher.case === 'typedResult') {
    return resultMatcher.value.result === undefined ? undefined : specValue(resultMatcher.value.result)
  }
  return resultMatcher.case === undefined ? { kind: 'boolValue', content: true } : undefined
}

function bindingValue(binding: SpecTest['bindings'][string]): SpecValue | undefined {
  return binding.kind.case === 'value' ? specValue(binding.kind.value) : undefined
}

interface ProtoValue {
  readonly kind: { readonly case: string; readonly value: unknown } | { readonly case: undefined }
}

function specValue({ kind }: ProtoValue): SpecValue {
  return kind.case === undefined ? { kind: 'nullValue', content: null } : { kind: kind.case, content: kind.value }
}

/** The elements of a list value, the entries of a map value. */
export function listItems(content: unknown): SpecValue[] {
  // The suite's own generated types describe these; the reader here only needs their two members.
  return (content as { readonly values: readonly ProtoValue[] }).values.map(specValue)
}

export function mapEntries(content: unknown): (readonly [SpecValue, SpecValue])[] {
  const { entries } = content as {
    readonly entries: readonly { readonly key: ProtoValue; readonly value: ProtoValue }[]
  }
  return entries.map(({ key, value }) => [specValue(key), specValue(value)])
}
