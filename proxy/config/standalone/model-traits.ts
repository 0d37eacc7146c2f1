// Reads the files of model traits that MODEL_TRAITS_PATHS names.
import { parseDocuments } from '#api/source/document.ts'
import type { TraitsRow } from '../../llm/traits/traits.ts'
import { schemaProblems } from './issues.ts'
import { readText } from './read-text.ts'
import { modelTraits } from './schema/model-traits.ts'
import { message } from './schema/object.ts'

export interface ReadTraits {
  /** In the order of the files: the first row that matches a name counts. */
  readonly rows: readonly TraitsRow[]
  /** Sentences with file and line. */
  readonly mistakes: readonly string[]
}

/** Never throws: a file that cannot be read is a mistake as well. */
export function readModelTraits(paths: readonly string[]): ReadTraits {
  const files = paths.map(readOne)
  return { rows: files.flatMap(({ rows }) => rows), mistakes: files.flatMap(({ mistakes }) => mistakes) }
}

function readOne(path: string): ReadTraits {
  const file = readText(path)
  return 'problem' in file ? { rows: [], mistakes: [file.problem] } : parseTraits(path, file.text)
}

export function parseTraits(path: string, text: string): ReadTraits {
  const { documents, problems } = parseDocuments(path, text)
  const [document, ...others] = documents
  if (problems.length > 0) return { rows: [], mistakes: problems.map((problem) => sentence(problem, problem.message)) }
  if (document === undefined || others.length > 0) {
    return { rows: [], mistakes: [`${path}: must be one YAML document with models`] }
  }
  const parsed = modelTraits.safeParse(document.value, { error: message })
  if (parsed.success) return { rows: parsed.data, mistakes: [] }
  const mistakes = schemaProblems(parsed.error.issues).map(({ path: field, message: what }) =>
    sentence(document.locate(field), `${field}: ${what}`),
  )
  return { rows: [], mistakes }
}

function sentence({ file, line }: { readonly file: string; readonly line: number }, what: string): string {
  return `${file}:${line}: ${what}`
}
