// Text of a model catalog to a catalog. Reports mistakes with their places; never throws for user input.
import { jsonExcess } from '#api/bounded-json.ts'
import { parseJson } from '#api/json.ts'
import type { ModelCatalog } from '../../llm/cost/catalog.ts'
import type { FieldProblem } from './build/context.ts'
import { schemaProblems } from './issues.ts'
import { modelCatalog } from './schema/model-catalog.ts'
import { message } from './schema/object.ts'

/** Further mistakes are not reported. */
const PROBLEMS_MAX = 10

export type ParsedCatalog = { readonly catalog: ModelCatalog } | { readonly problems: readonly FieldProblem[] }

export function parseCatalog(text: string): ParsedCatalog {
  const value = parseJson(text)
  if (value === undefined) return { problems: [whole(jsonExcess(text) ?? 'is not valid JSON')] }
  const parsed = modelCatalog.safeParse(value, { error: message })
  if (parsed.success) return { catalog: parsed.data }
  return { problems: schemaProblems(parsed.error.issues).slice(0, PROBLEMS_MAX) }
}

/** Each problem as a sentence that begins with its place in the file. */
export function catalogMistakes(file: string, problems: readonly FieldProblem[]): string[] {
  return problems.map(({ path, message: text }) => `${file}: ${path === '' ? '' : `${path}: `}${text}`)
}

function whole(text: string): FieldProblem {
  return { path: '', message: text, severity: 'error' }
}
