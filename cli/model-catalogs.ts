// The sources of the model catalog: those of a configuration file, then the files of MODEL_CATALOG_PATHS, which are
// watched. A file that becomes invalid keeps its last valid content.
import { isDeepStrictEqual } from 'node:util'
import { catalogMistakes, parseCatalog } from '#proxy/config/standalone/model-catalog.ts'
import { readText } from '#proxy/config/standalone/read-text.ts'
import { type CatalogSource, type OfferedCatalog, offeredCatalog } from '#proxy/llm/cost/offered-catalog.ts'
import { watchSource, type SourceWatch } from './watch.ts'

/** As many as GwParameters may have. */
const FILES_MAX = 16

export interface CatalogReport {
  readonly info: (message: string) => void
  readonly warn: (message: string) => void
}

export interface ModelCatalogsOptions {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly report: CatalogReport
  /** Called with each new catalog. */
  readonly use: (offered: OfferedCatalog) => void
}

export class ModelCatalogs {
  readonly #paths: readonly string[]
  readonly #report: CatalogReport
  readonly #use: (offered: OfferedCatalog) => void
  readonly #watch: SourceWatch | undefined
  readonly #files = new Map<string, CatalogSource>()
  /** The text that was read last from each file, valid or not. */
  readonly #texts = new Map<string, string>()
  #configured: readonly CatalogSource[] | undefined = undefined

  constructor({ environment, report, use }: ModelCatalogsOptions) {
    this.#report = report
    this.#use = use
    this.#paths = pathsOf(environment, report)
    const [first] = this.#paths
    // Before the first read: a later change must not be missed.
    if (first !== undefined) {
      const onProblem = (message: string): void => report.warn(message)
      this.#watch = watchSource(first, { isFolder: false, onChange: () => this.#reload(), onProblem })
      this.#watch.follow(this.#paths)
    }
    for (const path of this.#paths) this.#read(path)
  }

  /**
   * Puts the sources of the configuration in force, before those of the environment. undefined: they are not valid, and
   * the previous ones stay. True: there are other prices than before.
   */
  configure(sources: readonly CatalogSource[] | undefined): boolean {
    const next = sources ?? this.#configured ?? []
    if (isDeepStrictEqual(next, this.#configured)) return false
    this.#configured = next
    this.#offer()
    return true
  }

  close(): void {
    this.#watch?.close()
  }

  #reload(): void {
    this.#watch?.follow(this.#paths)
    const changed = this.#paths.filter((path) => this.#read(path))
    if (changed.length === 0) return
    this.#offer()
    this.#report.info(`reloaded the model catalog: ${changed.join(', ')}`)
  }

  #offer(): void {
    const files = this.#paths.flatMap((path) => this.#files.get(path) ?? [])
    this.#use(offeredCatalog([...(this.#configured ?? []), ...files]))
  }

  /** Whether the file has new content that is valid. */
  #read(path: string): boolean {
    const read = readText(path)
    const content = 'text' in read ? read.text : read.problem
    if (this.#texts.get(path) === content) return false
    this.#texts.set(path, content)
    const parsed = 'text' in read ? parseCatalog(read.text) : undefined
    if (parsed !== undefined && 'catalog' in parsed) {
      this.#files.set(path, { name: path, catalog: parsed.catalog })
      return true
    }
    const rest = this.#files.has(path) ? 'its last valid content stays in use' : 'it is ignored'
    const mistakes = parsed === undefined ? [content] : catalogMistakes(path, parsed.problems)
    for (const mistake of mistakes) this.#report.warn(`model catalog: ${mistake}; ${rest}`)
    return false
  }
}

function pathsOf(environment: ModelCatalogsOptions['environment'], report: CatalogReport): string[] {
  const value = environment['GW_MODEL_CATALOG_PATHS'] ?? environment['MODEL_CATALOG_PATHS'] ?? ''
  const paths = [...new Set(value.split(',').map((path) => path.trim()))].filter((path) => path !== '')
  if (paths.length > FILES_MAX) report.warn(`MODEL_CATALOG_PATHS: only the first ${FILES_MAX} files are used`)
  return paths.slice(0, FILES_MAX)
}
