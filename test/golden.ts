// Golden files: `<case>.in.yaml` beside `<case>.out.yaml`. Runs any pure function over a folder of them.
// UPDATE_GOLDEN=1 rewrites the outputs; CI does not allow it, so a difference always fails there.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { parseAllDocuments, stringify } from 'yaml'

const INPUT = '.in.yaml'
const OUTPUT = '.out.yaml'

export interface GoldenCase {
  /** Path below the root without the ending, e.g. `gateways/simple-http`. */
  readonly name: string
  readonly inputPath: string
  readonly outputPath: string
}

export interface GoldenInput {
  /** From comment lines `# option: key=value` above the first document. */
  readonly options: ReadonlyMap<string, string>
  readonly documents: readonly unknown[]
}

export interface GoldenFolder {
  readonly cases: readonly GoldenCase[]
  /** Outputs without an input; tests must fail for them. */
  readonly orphans: readonly string[]
}

export function goldenFolder(root: string): GoldenFolder {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).map((file) => join(root, file))
  const cases = files.filter((file) => file.endsWith(INPUT)).map((inputPath) => goldenCase(root, inputPath))
  const known = new Set(cases.map(({ outputPath }) => outputPath))
  const orphans = files.filter((file) => file.endsWith(OUTPUT) && !known.has(file)).map((file) => relative(root, file))
  return { cases: cases.toSorted((a, b) => (a.name < b.name ? -1 : 1)), orphans: orphans.toSorted() }
}

/** @throws {Error} for invalid YAML, an unknown option, or a duplicate key */
export function readGolden(path: string, knownOptions: readonly string[] = []): GoldenInput {
  const text = readFileSync(path, 'utf8')
  const documents = parseAllDocuments(text, { uniqueKeys: true })
  const [broken] = documents.flatMap(({ errors }) => errors)
  if (broken !== undefined) throw new Error(`${path}: ${broken.message}`)
  const values: unknown[] = documents.map((document) => document.toJS())
  const options = optionsOf(text)
  const unknown = [...options.keys()].find((key) => !knownOptions.includes(key))
  if (unknown !== undefined) throw new Error(`${path}: unknown option ${unknown}; known: ${knownOptions.join(', ')}`)
  return { options, documents: values.filter((value) => value !== null && value !== undefined) }
}

export interface GoldenVerdict {
  readonly expected: string
  readonly actual: string
}

/** The case passes if the texts are equal. With UPDATE_GOLDEN=1 the output is written first, so it always passes. */
export function compareGolden(golden: GoldenCase, output: unknown): GoldenVerdict {
  const actual = stringify(output, { lineWidth: 0, aliasDuplicateObjects: false })
  if (isUpdating()) writeFileSync(golden.outputPath, actual)
  const expected = existsSync(golden.outputPath)
    ? readFileSync(golden.outputPath, 'utf8')
    : `missing ${basename(golden.outputPath)}: run with UPDATE_GOLDEN=1 and review the file`
  return { expected, actual }
}

/** Deletes outputs without inputs in an update; otherwise keeps them, and the test fails. */
export function removeOrphans(root: string, { orphans }: GoldenFolder): readonly string[] {
  if (!isUpdating()) return orphans
  for (const orphan of orphans) rmSync(join(root, orphan))
  return []
}

function goldenCase(root: string, inputPath: string): GoldenCase {
  const stem = basename(inputPath).slice(0, -INPUT.length)
  return {
    name: join(relative(root, dirname(inputPath)), stem),
    inputPath,
    outputPath: join(dirname(inputPath), `${stem}${OUTPUT}`),
  }
}

function optionsOf(text: string): Map<string, string> {
  const options = new Map<string, string>()
  for (const line of text.split('\n')) {
    if (!line.startsWith('#')) break
    const [, key, value] = /^# option: ([a-zA-Z]+)=(.*)$/.exec(line) ?? []
    if (key !== undefined && value !== undefined) options.set(key, value.trim())
  }
  return options
}

function isUpdating(): boolean {
  if (process.env['UPDATE_GOLDEN'] !== '1') return false
  if (process.env['CI'] === 'true') throw new Error('UPDATE_GOLDEN is refused in CI: review and commit the outputs')
  return true
}
