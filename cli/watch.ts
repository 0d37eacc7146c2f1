// Reports when files of a source change. Editors write in several steps, so close changes are reported together. It
// watches folders, never files: editors replace files, and a watch of a replaced file gets no events. It watches each
// folder by itself, because the recursive watch of Node on Linux loses files that are replaced.
import { type FSWatcher, readdirSync, realpathSync, statSync, watch } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { isSourceName } from './manifests/files.ts'

/** Long enough for an editor's rename and write, and too short for a person to notice. */
const DEBOUNCE_MS = 25
/** Each folder needs a watch of the kernel, which allows a few thousand for each user. */
export const FOLDERS_MAX = 2000

export interface SourceWatch {
  /** Watches these files too, and stops watching those of an earlier call. */
  follow(files: readonly string[]): void
  close(): void
}

export interface WatchOptions {
  readonly isFolder: boolean
  readonly onChange: () => void
  /** Something cannot be watched; each message is reported once. */
  readonly onProblem: (message: string) => void
}

/** Names in a folder that matter; undefined: all manifests. */
type Names = ReadonlySet<string> | undefined

interface Watched {
  readonly watcher: FSWatcher
  /** Inode of the watched folder: another folder may replace it. */
  readonly inode: number
  names: Names
}

export function watchSource(path: string, options: WatchOptions): SourceWatch {
  return new Watches(path, options)
}

class Watches implements SourceWatch {
  readonly #root: string
  readonly #options: WatchOptions
  readonly #open = new Map<string, Watched>()
  readonly #reported = new Set<string>()
  #followed: readonly string[] = []
  #timer: NodeJS.Timeout | undefined = undefined
  /** Whether a file changed since the timer was set. */
  #isChanged = false

  constructor(path: string, options: WatchOptions) {
    this.#root = resolve(path)
    this.#options = options
    this.#refresh()
  }

  follow(files: readonly string[]): void {
    this.#followed = files
    this.#refresh()
  }

  close(): void {
    clearTimeout(this.#timer)
    for (const { watcher } of this.#open.values()) watcher.close()
    this.#open.clear()
  }

  #later(isChange: boolean): void {
    this.#isChanged ||= isChange
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      // Files written into a new folder before it was watched caused no event.
      const isOther = this.#refresh()
      if (!this.#isChanged && !isOther) return
      this.#isChanged = false
      this.#options.onChange()
    }, DEBOUNCE_MS)
  }

  /** Watches the current folders; returns whether they differ from the previous ones. */
  #refresh(): boolean {
    const wanted = this.#wanted()
    let isOther = false
    for (const [folder, { watcher, inode }] of this.#open) {
      if (wanted.has(folder) && inodeOf(folder) === inode) continue
      watcher.close()
      this.#open.delete(folder)
      isOther = true
    }
    for (const [folder, names] of wanted) {
      const known = this.#open.get(folder)
      if (known !== undefined) known.names = names
      else if (this.#watch(folder, names)) isOther = true
    }
    return isOther
  }

  #wanted(): ReadonlyMap<string, Names> {
    const { isFolder } = this.#options
    const tree = isFolder ? treeOf(this.#root) : { folders: [], links: [] }
    if (tree.folders.length > FOLDERS_MAX) {
      this.#warn(`only ${FOLDERS_MAX} folders below ${this.#root} of ${tree.folders.length} are watched`)
    }
    // The root too: a folder, or a link to one, may be replaced as a whole.
    const files = [this.#root, ...tree.links, ...this.#followed].flatMap(withTarget)
    const byFolder = Map.groupBy(new Set(files), (file) => dirname(file))
    const wanted = new Map<string, Names>()
    for (const [folder, own] of byFolder) wanted.set(folder, new Set(own.map((file) => basename(file))))
    for (const folder of tree.folders.slice(0, FOLDERS_MAX)) wanted.set(folder, undefined)
    return wanted
  }

  #watch(folder: string, names: Names): boolean {
    const inode = inodeOf(folder)
    // The load that needs its content reports it.
    if (inode === undefined) return false
    try {
      const watcher = watch(folder)
      const watched: Watched = { watcher, inode, names }
      watcher.on('change', (event, name) => {
        const isChange = matters(String(name ?? ''), watched.names)
        if (isChange || (event === 'rename' && watched.names === undefined)) this.#later(isChange)
      })
      // The next load reports a removed folder.
      watcher.on('error', () => this.#later(true))
      this.#open.set(folder, watched)
      return true
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      this.#warn(`cannot watch ${folder}: ${reason}`)
      return false
    }
  }

  #warn(message: string): void {
    if (this.#reported.has(message) || this.#reported.size >= FOLDERS_MAX) return
    this.#reported.add(message)
    this.#options.onProblem(`${message}; send SIGHUP to reload all files`)
  }
}

/** The folder and those below it; links to manifests among its files. */
function treeOf(root: string): { readonly folders: readonly string[]; readonly links: readonly string[] } {
  const folders = [root]
  const links: string[] = []
  try {
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      if (entry.isDirectory()) folders.push(path)
      else if (entry.isSymbolicLink() && isSourceName(entry.name)) links.push(path)
    }
  } catch {
    // The folder was removed during the read: its parent gets an event, and the load reports the problem.
  }
  return { folders, links }
}

/** A link changes at its own place and at its target. */
function withTarget(file: string): string[] {
  try {
    return [resolve(file), realpathSync(file)]
  } catch {
    // Does not exist now; the load reports it.
    return [resolve(file)]
  }
}

/** Inode of the file or folder at the path, or of the target of a link. */
function inodeOf(path: string): number | undefined {
  try {
    return statSync(path).ino
  } catch {
    // Does not exist or is not accessible; the load reports it.
    return undefined
  }
}

/** Ignores other files of the folder, such as a log that this process writes. */
function matters(name: string, names: Names): boolean {
  // A mounted ConfigMap changes when a link whose name begins with two dots is replaced.
  if (name === '' || name.startsWith('..')) return true
  return names === undefined ? isSourceName(name) : names.has(name)
}
