// Reads the accept and reject cases of testdata/<kind>[-part]/<feature>.yaml. For tests and developer scripts only.
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parse } from 'yaml'

export interface ExpectedError {
  readonly path: string
  /** Part of the message. */
  readonly message: string
}

export interface Fixture {
  /** In lower case. */
  readonly kind: string
  /** `<feature>: <name>` */
  readonly title: string
  readonly object: unknown
  /** The object before an update, for rules that compare with `oldSelf`. */
  readonly oldObject: unknown
  /** Absent: the object is valid. */
  readonly error: ExpectedError | undefined
}

/** No fixture needs a longer list or text; a typing error must not fill the memory. */
const TIMES_MAX = 100_000

const FOLDER = join(import.meta.dirname, 'testdata')

/** Kinds in lower case. A folder is named after its kind, alone or with a part: `gwpolicy`, `gwpolicy-backend`. */
export function fixtureKinds(): string[] {
  return [...new Set(folders().map(kindOfFolder))]
}

export function loadFixtures(kind: string): Fixture[] {
  return folders()
    .filter((folder) => kindOfFolder(folder) === kind)
    .flatMap(loadFolder)
}

function loadFolder(folder: string): Fixture[] {
  const names = readdirSync(join(FOLDER, folder)).filter((name) => name.endsWith('.yaml'))
  return names.sort().flatMap((name) => loadFixtureFile(join(FOLDER, folder, name), kindOfFolder(folder)))
}

export function loadFixtureFile(file: string, kind: string): Fixture[] {
  const cases: unknown = readKey(parse(readFileSync(file, 'utf8')), 'cases')
  if (!Array.isArray(cases)) throw new TypeError(`${file}: no list "cases"`)
  return cases.map((value: unknown) => toFixture(kind, file, value))
}

function folders(): string[] {
  const entries = readdirSync(FOLDER, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return entries.map((entry) => entry.name).sort()
}

function kindOfFolder(folder: string): string {
  return folder.split('-')[0] ?? folder
}

function toFixture(kind: string, file: string, value: unknown): Fixture {
  const name = readKey(value, 'name')
  const where = `${file}: ${String(name)}`
  const valid = readKey(value, 'valid')
  const error = readKey(value, 'error')
  if (typeof valid !== 'boolean' || typeof name !== 'string') throw new TypeError(`${where}: needs name and valid`)
  if (valid !== (error === undefined)) throw new TypeError(`${where}: "error" exactly when valid is false`)
  return {
    kind,
    title: `${basename(file, '.yaml')}: ${name}`,
    object: expand(readKey(value, 'object')),
    oldObject: expand(readKey(value, 'oldObject')),
    error: error === undefined ? undefined : toError(error, where),
  }
}

function toError(value: unknown, where: string): ExpectedError {
  const path = readKey(value, 'path')
  const message = readKey(value, 'message')
  if (typeof path !== 'string' || typeof message !== 'string')
    throw new TypeError(`${where}: error needs path, message`)
  return { path, message }
}

/** Writes out `{ $repeat: text, times }` and `{ $items: template, times }`. */
function expand(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(expand)
  if (typeof value !== 'object' || value === null) return value
  if (Object.hasOwn(value, '$repeat')) return String(readKey(value, '$repeat')).repeat(times(value))
  if (Object.hasOwn(value, '$items')) {
    const template = readKey(value, '$items')
    return Array.from({ length: times(value) }, (_, index) => expand(numbered(template, index)))
  }
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, expand(child)]))
}

function times(value: object): number {
  const count = readKey(value, 'times')
  if (typeof count !== 'number' || count < 0 || count > TIMES_MAX) throw new TypeError('times must be 0 to 100000')
  return count
}

function numbered(template: unknown, index: number): unknown {
  if (typeof template === 'string') return template.replaceAll('${i}', String(index))
  if (Array.isArray(template)) return template.map((item) => numbered(item, index))
  if (typeof template !== 'object' || template === null) return template
  const entries = Object.entries(template).map(
    ([key, child]) => [key.replaceAll('${i}', String(index)), child] as const,
  )
  return Object.fromEntries(entries.map(([key, child]) => [key, numbered(child, index)]))
}

function readKey(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  return Reflect.get(value, key) as unknown
}
