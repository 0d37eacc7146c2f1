// The files of `gw run` as the web UI edits them: shows them without credentials, checks a text as `gw validate` does,
// and replaces a file only if the proxy would take the result and no other program has changed it. Runs in a thread of
// its own (edit-thread.ts): with thousands of routes each of these takes seconds.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { SaveResult, SourceEdit, SourceProblem, SourceText } from '#proxy/admin/source-editing.ts'
import { readSources, type SourceFile } from '../manifests/files.ts'
import { hasErrors } from '../report.ts'
import {
  filesId,
  type GivenLoad,
  type LastLoad,
  loadRunnable,
  readGiven,
  type SourceMemory,
  type StoredKeys,
} from '../source.ts'
import { reasonText } from '../output.ts'
import { type HiddenText, hideValues, showValues } from './hidden-values.ts'
import { replaceFile } from './replace-file.ts'

/** Of the process at the time of a call. */
export interface ProcessState {
  /** The last load of the files. */
  readonly last?: LastLoad | undefined
  readonly storedKeys: StoredKeys
}

export type SaveOutcome = SaveResult | (Extract<SaveResult, { kind: 'saved' }> & { readonly given: GivenLoad })

/** Larger files have no place in a page. */
const TEXT_LENGTH_MAX = 1024 * 1024
const FILES_MAX = 500

export class EditedFiles {
  /** Of `gw run -f`. */
  readonly #path: string
  /** Texts by their etags, as the page has got them last: a long one takes a second. */
  #shown: ReadonlyMap<string, HiddenText | undefined> = new Map()

  constructor(path: string) {
    this.#path = path
  }

  async read(state: ProcessState): Promise<SourceText[]> {
    const files = this.#files()
    const { secrets } = await this.#loaded(files, state)
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

  async check(edit: SourceEdit, state: ProcessState): Promise<SourceProblem[] | 'changed'> {
    const edited = await this.#edited(edit, state)
    if (edited === 'changed') return edited
    return 'files' in edited ? edited.problemsOf(await this.#loaded(edited.files, state)) : edited.problems
  }

  /** The process has to use a file that was saved; `given` spares it the load. */
  async save(edit: SourceEdit, state: ProcessState): Promise<SaveOutcome> {
    const edited = await this.#edited(edit, state)
    if (edited === 'changed') return { kind: 'changed' }
    if (!('files' in edited)) return { kind: 'invalid', problems: edited.problems }
    const { text, files } = edited
    const loaded = await loadRunnable(await readGiven(this.#path, files), state.storedKeys)
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
    const saved = { kind: 'saved', etag: etagOf(text), problems } as const
    // What manifests become is not copied between threads: the process keeps their translation.
    if (loaded.form === 'manifests') return saved
    return { ...saved, given: { id: filesId(files), storedKeys: state.storedKeys, source: loaded } }
  }

  async #edited({ path, etag, text }: SourceEdit, state: ProcessState): Promise<Edited | Unusable | 'changed'> {
    const files = this.#files()
    const current = files.find((file) => file.path === path)
    if (current === undefined || etagOf(current.text) !== etag) return 'changed'
    const hidden = this.#shown.get(etag) ?? hideValues(current.text, (await this.#loaded(files, state)).secrets)
    const shown = showValues(text, hidden?.hidden ?? [])
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

  /** @throws {Error} They cannot be read. */
  #files(): readonly SourceFile[] {
    const sources = readSources(this.#path)
    if ('problem' in sources) throw new Error(sources.problem)
    return sources.files
  }

  /** Files as the process has them are not loaded again. */
  async #loaded(files: readonly SourceFile[], { last, storedKeys }: ProcessState): Promise<LastLoad> {
    if (last?.id === filesId(files)) return last
    const memory: SourceMemory = {}
    const { problems } = await loadRunnable(await readGiven(this.#path, files), storedKeys, memory)
    return memory.last ?? { id: '', secrets: [], problems }
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
