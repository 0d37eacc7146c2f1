// Edits of the files of `gw run` by the web UI: shows them without credentials, checks a text as `gw validate` does,
// and replaces a file only if the proxy would take the result and no other program has changed it.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { SaveResult, SourceEdit, SourceEditor, SourceProblem, SourceText } from '#proxy/admin/source-editing.ts'
import { readSources, type SourceFile } from '../manifests/files.ts'
import { hasErrors } from '../report.ts'
import { filesId, type LastLoad, loadRunnable, readGiven, type SourceMemory, type StoredKeys } from '../source.ts'
import { reasonText } from '../output.ts'
import { type HiddenText, hideValues, showValues } from './hidden-values.ts'
import { replaceFile } from './replace-file.ts'

export interface EditedSource {
  /** Of `gw run -f`. */
  readonly path: string
  /** Of the process, which has loaded the files. */
  readonly memory: Readonly<Pick<SourceMemory, 'last'>>
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
  /** Texts by their etags, as the page has got them last: a long one takes a second. */
  #shown: ReadonlyMap<string, HiddenText | undefined> = new Map()
  /** One after the other: each sees the file that the one before it wrote. */
  #saving: Promise<unknown> = Promise.resolve()

  constructor(source: EditedSource) {
    this.#source = source
  }

  async read(): Promise<SourceText[]> {
    const files = this.#files()
    const { secrets } = await this.#loaded(files)
    const shown = new Map<string, HiddenText | undefined>()
    const texts = files.slice(0, FILES_MAX).map(({ path, text }): SourceText => {
      const shared = { path, etag: etagOf(text) }
      if (text.length > TEXT_LENGTH_MAX)
        return { ...shared, problem: `it is longer than ${TEXT_LENGTH_MAX} characters` }
      const hidden = hideValues(text, secrets)
      shown.set(shared.etag, hidden)
      if (hidden === undefined) {
        return { ...shared, problem: 'it is not valid YAML, so that its credentials cannot be hidden: use an editor' }
      }
      return { ...shared, text: hidden.text }
    })
    this.#shown = shown
    return texts
  }

  async check(edit: SourceEdit): Promise<SourceProblem[] | 'changed'> {
    const edited = await this.#edited(edit)
    if (edited === 'changed') return edited
    return 'files' in edited ? edited.problemsOf(await this.#loaded(edited.files)) : edited.problems
  }

  save(edit: SourceEdit): Promise<SaveResult> {
    const saved = this.#saving.then(() => this.#save(edit))
    this.#saving = saved.catch(() => undefined)
    return saved
  }

  async #save(edit: SourceEdit): Promise<SaveResult> {
    const edited = await this.#edited(edit)
    if (edited === 'changed') return { kind: 'changed' }
    if (!('files' in edited)) return { kind: 'invalid', problems: edited.problems }
    const { text, files } = edited
    const loaded = await loadRunnable(await readGiven(this.#source.path, files), this.#source.storedKeys())
    const problems = edited.problemsOf(loaded)
    // As `gw run` starts: errors of a standalone file, or nothing to serve.
    const isBroken = loaded.form === 'standalone' && hasErrors(loaded.problems)
    if (loaded.rendered === undefined || isBroken) return { kind: 'invalid', problems }
    try {
      const isCurrent = (): boolean => etagOf(readFileSync(edit.path, 'utf8')) === edit.etag
      if (!replaceFile(edit.path, text, isCurrent)) return { kind: 'changed' }
    } catch (error) {
      return { kind: 'failed', message: `${edit.path} cannot be written: ${reasonText(error)}` }
    }
    const reason = await inTime(this.#source.reload())
    return { kind: 'saved', etag: etagOf(text), problems, ...(reason !== undefined && { reason }) }
  }

  async #edited({ path, etag, text }: SourceEdit): Promise<Edited | Unusable | 'changed'> {
    const files = this.#files()
    const current = files.find((file) => file.path === path)
    if (current === undefined || etagOf(current.text) !== etag) return 'changed'
    const hidden = await this.#hidden(etag, current.text, files)
    const shown = showValues(text, hidden)
    if ('problem' in shown) {
      const problem = { file: path, line: shown.line, column: 1, path: '', message: shown.problem }
      return { problems: [{ ...problem, severity: 'error' }] }
    }
    return {
      text: shown.text,
      files: files.map((file) => (file.path === path ? { path, text: shown.text } : file)),
      problemsOf: ({ problems }) =>
        problems.map(({ file, line, column, path: field, message, severity }) => {
          return { file, line: file === path ? shown.lineOf(line) : line, column, path: field, message, severity }
        }),
    }
  }

  async #hidden(etag: string, text: string, files: readonly SourceFile[]): Promise<readonly string[]> {
    const shown = this.#shown.get(etag) ?? hideValues(text, (await this.#loaded(files)).secrets)
    return shown?.hidden ?? []
  }

  /** @throws {Error} They cannot be read. */
  #files(): readonly SourceFile[] {
    const sources = readSources(this.#source.path)
    if ('problem' in sources) throw new Error(sources.problem)
    return sources.files
  }

  /** Files as the process has them are not loaded again. */
  async #loaded(files: readonly SourceFile[]): Promise<LastLoad> {
    const { last } = this.#source.memory
    if (last?.id === filesId(files)) return last
    const memory: SourceMemory = {}
    const { problems } = await loadRunnable(
      await readGiven(this.#source.path, files),
      this.#source.storedKeys(),
      memory,
    )
    return memory.last ?? { id: '', secrets: [], problems }
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

interface Edited {
  /** With its credentials. */
  readonly text: string
  /** All files, with the text in its place. */
  readonly files: readonly SourceFile[]
  /** At the lines of the page. */
  readonly problemsOf: (loaded: Pick<LastLoad, 'problems'>) => SourceProblem[]
}

/** The text has marks of values that the file does not have. */
interface Unusable {
  readonly problems: SourceProblem[]
}

function etagOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
