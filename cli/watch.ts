// Tells when files of a source change. Editors write in several steps, so changes are taken together. Folders are
// watched, never files: editors replace files, and the watch of a replaced file is blind. Each folder by itself, as the
// recursive watch of Node loses sight of a file on Linux when it is replaced.
import { type FSWatcher, readdirSync, realpathSync, statSync, watch } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { isSourceName } from './manifests/files.ts'

/** Long enough for an editor's rename and write, far below what a person notices. */
const DEBOUNCE_MS = 25
/** Each is a watch of the kernel, which has a few thousand for a user. */
export const FOLDERS_MAX = 2000

export interface SourceWatch {
  /** Watches these files too, and no longer those of an earlier call. */
  follow(files: readonly string[]): void
  close(): void
}

export interface WatchOptions {
  readonly isFolder: boolean
  readonly onChange: () => void
  /** Something cannot be watched; told once. */
  readonly onProblem: (message: string) => void
}

/** Names in a folder that matter; undefined: all manifests. */
type Names = ReadonlySet<string> | undefined

interface Watched {
  readonly watcher: FSWatcher
  /** Of the folder that is watched: another one may come to its place. */
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
  readonly #told = new Set<string>()
  #followed: readonly string[] = []
  #timer: NodeJS.Timeout | undefined = undefined
  /** What happened since the timer was set. */
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
      // What was written into a new folder before it was watched has told nothing.
      const isOther = this.#refresh()
      if (!this.#isChanged && !isOther) return
      this.#isChanged = false
      this.#options.onChange()
    }, DEBOUNCE_MS)
  }

  /** Watches what there is now; gives whether that are other folders than before. */
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
      this.#tell(`only ${FOLDERS_MAX} folders below ${this.#root} of ${tree.folders.length} are watched`)
    }
    // The root as well: a folder, or a link to one, may be replaced as a whole.
    const files = [this.#root, ...tree.links, ...this.#followed].flatMap(withTarget)
    const byFolder = Map.groupBy(new Set(files), (file) => dirname(file))
    const wanted = new Map<string, Names>()
    for (const [folder, own] of byFolder) wanted.set(folder, new Set(own.map((file) => basename(file))))
    for (const folder of tree.folders.slice(0, FOLDERS_MAX)) wanted.set(folder, undefined)
    return wanted
  }

  #watch(folder: string, names: Names): boolean {
    const inode = inodeOf(folder)
    // Named by the load that needs what is in it.
    if (inode === undefined) return false
    try {
      const watcher = watch(folder)
      const watched: Watched = { watcher, inode, names }
      watcher.on('change', (event, name) => {
        const isChange = matters(String(name ?? ''), watched.names)
        if (isChange || (event === 'rename' && watched.names === undefined)) this.#later(isChange)
      })
      // A folder that goes away is reported by the next load.
      watcher.on('error', () => this.#later(true))
      this.#open.set(folder, watched)
      return true
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      this.#tell(`cannot watch ${folder}: ${reason}`)
      return false
    }
  }

  #tell(message: string): void {
    if (this.#told.has(message) || this.#told.size >= FOLDERS_MAX) return
    this.#told.add(message)
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
    // It goes away while it is read; what happens to its parent tells of it, and the load says what is wrong.
  }
  return { folders, links }
}

/** A link changes where it stands, and where it leads to. */
function withTarget(file: string): string[] {
  try {
    return [resolve(file), realpathSync(file)]
  } catch {
    // Not there now; said by the load.
    return [resolve(file)]
  }
}

/** Of what is at the path, or where a link leads to. */
function inodeOf(path: string): number | undefined {
  try {
    return statSync(path).ino
  } catch {
    // Not there, or not for us; said by the load.
    return undefined
  }
}

/** Other files of the folder, such as a log that this process writes, are none of our business. */
function matters(name: string, names: Names): boolean {
  // Mounted ConfigMaps change by the swap of a link whose name begins with two dots.
  if (name === '' || name.startsWith('..')) return true
  return names === undefined ? isSourceName(name) : names.has(name)
}
