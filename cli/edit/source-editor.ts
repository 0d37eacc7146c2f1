// The editor of the web UI for the files of `gw run`: works on them in a thread of its own, and has the process load
// what was saved.
import { setTimeout as delay } from 'node:timers/promises'
import type { SaveResult, SourceEdit, SourceEditor, SourceProblem, SourceText } from '#proxy/admin/source-editing.ts'
import type { GivenLoad, SourceMemory, StoredKeys } from '../source.ts'
import type { SaveOutcome } from './edited-files.ts'
import { EditWorker } from './edit-worker.ts'

export interface EditedSource {
  /** Of `gw run -f`. */
  readonly path: string
  /** Of the process, which has loaded the files. */
  readonly memory: Readonly<Pick<SourceMemory, 'last'>>
  readonly storedKeys: () => StoredKeys
  /** Loads the files again, or uses this load of them. Resolves with the reason why it is not in force. */
  readonly reload: (given: GivenLoad | undefined) => Promise<string | undefined>
  /** A reload that a watch requests waits until this has ended: the load of a saved file comes with it. */
  readonly hold: (saving: Promise<unknown>) => void
}

/** Ends its thread. */
export interface ClosableEditor extends SourceEditor {
  close(): Promise<void>
}

const RELOAD_MS_MAX = 8000

export function sourceEditor(source: EditedSource): ClosableEditor {
  const { path, memory, storedKeys } = source
  const worker = new EditWorker({ path, stateOf: () => ({ last: memory.last, storedKeys: storedKeys() }) })
  return new Editor(source, worker)
}

class Editor implements ClosableEditor {
  readonly #source: EditedSource
  readonly #worker: EditWorker
  /** One after the other: each sees the file that the one before it wrote. */
  #saving: Promise<unknown> = Promise.resolve()

  constructor(source: EditedSource, worker: EditWorker) {
    this.#source = source
    this.#worker = worker
  }

  async read(): Promise<SourceText[]> {
    // As EditedFiles returns it.
    return (await this.#worker.ask({ kind: 'read' })) as SourceText[]
  }

  async check(edit: SourceEdit, signal: AbortSignal): Promise<SourceProblem[] | 'changed'> {
    // As EditedFiles returns it.
    return (await this.#worker.ask({ kind: 'check', edit }, signal)) as SourceProblem[] | 'changed'
  }

  save(edit: SourceEdit): Promise<SaveResult> {
    const saved = this.#saving.then(() => this.#save(edit))
    this.#saving = saved.catch(() => undefined)
    return saved
  }

  close(): Promise<void> {
    return this.#worker.close()
  }

  async #save(edit: SourceEdit): Promise<SaveResult> {
    const saving = this.#worker.ask({ kind: 'save', edit })
    this.#source.hold(saving)
    // As EditedFiles returns it.
    const outcome = (await saving) as SaveOutcome
    if (outcome.kind !== 'saved') return outcome
    const { given, ...result } = { given: undefined, ...outcome }
    const reason = await inTime(this.#source.reload(given))
    return { ...result, ...(reason !== undefined && { reason }) }
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
