// Edits of the files of `gw run` by the web UI: shows them without credentials, checks a text as `gw validate` does,
// and replaces a file only if the proxy would take the result and no other program has changed it.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { SaveResult, SourceEdit, SourceEditor, SourceProblem, SourceText } from '#proxy/admin/source-editing.ts'
import { readSources, type SourceFile } from '../manifests/files.ts'
import { hasErrors } from '../report.ts'
import { type LoadedSource, loadRunnable, readGiven, type StoredKeys } from '../source.ts'
import { reasonText } from '../output.ts'
import { hideValues, showValues } from './hidden-values.ts'
import { replaceFile } from './replace-file.ts'

export interface EditedSource {
  /** Of `gw run -f`. */
  readonly path: string
  readonly storedKeys: () => StoredKeys
  /** Loads the files again. Resolves with the reason why the new configuration is not in force. */
  readonly reload: () => Promise<string | undefined>
}

/** Larger files have no place in a page. */
const TEXT_LENGTH_MAX = 1024 * 1024
const FILES_MAX = 500
const RELOAD_MS_MAX = 8000

export function sourceEditor(source: EditedSource): SourceEditor {
  return new Editor(source)
}

class Editor implements SourceEditor {
  readonly #source: EditedSource
  /** One after the other: each sees the file that the one before it wrote. */
  #saving: Promise<unknown> = Promise.resolve()

  constructor(source: EditedSource) {
    this.#source = source
  }

  async read(): Promise<SourceText[]> {
    const files = this.#files()
    const known = secretsOf(await this.#load(files))
    return files.slice(0, FILES_MAX).map(({ path, text }): SourceText => {
      const shared = { path, etag: etagOf(text) }
      if (text.length > TEXT_LENGTH_MAX)
        return { ...shared, problem: `it is longer than ${TEXT_LENGTH_MAX} characters` }
      const hidden = hideValues(text, known)
      if (hidden === undefined) {
        return { ...shared, problem: 'it is not valid YAML, so that its credentials cannot be hidden: use an editor' }
      }
      return { ...shared, text: hidden.text }
    })
  }

  async check(edit: SourceEdit): Promise<SourceProblem[] | 'changed'> {
    const checked = await this.#checked(edit)
    return checked === 'changed' ? checked : checked.problems
  }

  save(edit: SourceEdit): Promise<SaveResult> {
    const saved = this.#saving.then(() => this.#save(edit))
    this.#saving = saved.catch(() => undefined)
    return saved
  }

  async #save(edit: SourceEdit): Promise<SaveResult> {
    const checked = await this.#checked(edit)
    if (checked === 'changed') return { kind: 'changed' }
    const { text, problems, isRunnable } = checked
    if (!isRunnable) return { kind: 'invalid', problems }
    try {
      const isCurrent = (): boolean => etagOf(readFileSync(edit.path, 'utf8')) === edit.etag
      if (!replaceFile(edit.path, text, isCurrent)) return { kind: 'changed' }
    } catch (error) {
      return { kind: 'failed', message: `${edit.path} cannot be written: ${reasonText(error)}` }
    }
    const reason = await inTime(this.#source.reload())
    return { kind: 'saved', etag: etagOf(text), problems, ...(reason !== undefined && { reason }) }
  }

  async #checked({ path, etag, text }: SourceEdit): Promise<Checked | 'changed'> {
    const files = this.#files()
    const current = files.find((file) => file.path === path)
    if (current === undefined || etagOf(current.text) !== etag) return 'changed'
    const hidden = hideValues(current.text, secretsOf(await this.#load(files)))?.hidden ?? []
    const shown = showValues(text, hidden)
    if ('problem' in shown) {
      const problem = { file: path, line: shown.line, column: 1, path: '', message: shown.problem }
      return { text, problems: [{ ...problem, severity: 'error' }], isRunnable: false }
    }
    const next = files.map((file) => (file.path === path ? { path, text: shown.text } : file))
    const loaded = await this.#load(next)
    const problems = loaded.problems.map(({ file, line, column, path: field, message, severity }): SourceProblem => {
      return { file, line: file === path ? shown.lineOf(line) : line, column, path: field, message, severity }
    })
    // As `gw run` starts: errors of a standalone file, or nothing to serve.
    const isBroken = loaded.form === 'standalone' && hasErrors(loaded.problems)
    return { text: shown.text, problems, isRunnable: loaded.rendered !== undefined && !isBroken }
  }

  /** @throws {Error} They cannot be read. */
  #files(): readonly SourceFile[] {
    const sources = readSources(this.#source.path)
    if ('problem' in sources) throw new Error(sources.problem)
    return sources.files
  }

  async #load(files: readonly SourceFile[]): Promise<LoadedSource> {
    return loadRunnable(await readGiven(this.#source.path, files), this.#source.storedKeys())
  }
}

/** The page waits for 10 s. */
async function inTime(reloading: Promise<string | undefined>): Promise<string | undefined> {
  const ended = new AbortController()
  const late = delay(RELOAD_MS_MAX, 'the proxy is still loading it', { ref: false, signal: ended.signal })
  try {
    return await Promise.race([reloading, late])
  } finally {
    // Without the race, its rejection would be unhandled.
    late.catch(() => undefined)
    ended.abort()
  }
}

interface Checked {
  /** With its credentials. */
  readonly text: string
  readonly problems: SourceProblem[]
  readonly isRunnable: boolean
}

function secretsOf({ rendered }: LoadedSource): readonly string[] {
  return rendered?.secrets.secrets.map(({ value }) => value) ?? []
}

function etagOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
