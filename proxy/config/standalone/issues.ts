// Issues of the schema, as problems with field paths: one for each unknown field.
import type * as z from 'zod'
import { nearestName } from '#api/nearest.ts'
import type { FieldProblem } from './build/context.ts'
import { pathTo } from './field-path.ts'
import { standaloneFile, type StandaloneFile } from './schema/file.ts'
import { withFunctionsOf } from './schema/functions.ts'
import { isMap, message, MESSAGE_SEPARATOR } from './schema/object.ts'

/** A problem of one field, and the keys that lead to it. */
export interface SchemaProblem extends FieldProblem {
  readonly keys: readonly PropertyKey[]
}

/** Of the parsed text of a file: unknown fields and invalid values, without the files and parts that it names. */
export function fieldProblems(value: unknown): SchemaProblem[] {
  return schemaProblems(parseFile(value).error?.issues ?? [])
}

const TOP_LEVEL: readonly string[] = Object.keys(standaloneFile.shape)

/** A file of another program: no field at the top is one of ours, even misspelt. */
export function isForeign(value: unknown): boolean {
  const names = isMap(value) ? Object.keys(value) : []
  return names.length > 0 && names.every((name) => nearestName(name, TOP_LEVEL) === undefined)
}

export const FOREIGN =
  'is neither a standalone file, with fields such as gateways, routes, llm or mcp, nor a Kubernetes manifest, with ' +
  'apiVersion and kind; check the path'

export function parseFile(value: unknown): z.ZodSafeParseResult<StandaloneFile> {
  return withFunctionsOf(value, () => standaloneFile.safeParse(value, { error: message }))
}

export function schemaProblems(issues: readonly z.core.$ZodIssue[]): SchemaProblem[] {
  return issues.flatMap((issue) => {
    const keys = issue.path
    if (issue.code === 'invalid_key') return issue.issues.map(({ message: text }) => error(keys, text))
    if (issue.code !== 'unrecognized_keys') return [error(keys, issue.message)]
    const messages = issue.message.split(MESSAGE_SEPARATOR)
    return issue.keys.map((key, index) => error([...keys, key], messages[index] ?? issue.message))
  })
}

function error(keys: readonly PropertyKey[], text: string): SchemaProblem {
  return { path: pathTo('', ...keys), keys, message: text, severity: 'error' }
}
