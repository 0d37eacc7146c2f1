// Tells when files of a source change. Editors write in several steps, so changes are taken together.
import { realpathSync, watch, type FSWatcher } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { isSourceName } from './manifests/files.ts'

/** Long enough for an editor's rename and write, far below what a person notices. */
const DEBOUNCE_MS = 25

export interface SourceWatch {
  /** Watches these files too, and no longer those of an earlier call. */
  follow(files: readonly string[]): void
  close(): void
}

interface Watched {
  readonly watcher: FSWatcher
  /** Names in the folder that matter; undefined: all manifests. */
  names: ReadonlySet<string> | undefined
}

/** Watches folders, not files: editors replace files, and the watch of a replaced file is blind. */
export function watchSource(path: string, isFolder: boolean, onChange: () => void): SourceWatch {
  let timer: NodeJS.Timeout | undefined
  const changed = (): void => {
    clearTimeout(timer)
    timer = setTimeout(onChange, DEBOUNCE_MS)
  }
  const watchers = new Map<string, Watched>()
  const open = (folder: string, names: ReadonlySet<string> | undefined): void => {
    const known = watchers.get(folder)
    if (known !== undefined) {
      known.names = known.names === undefined ? undefined : names
      return
    }
    const watcher = watch(folder, { recursive: names === undefined })
    const watched: Watched = { watcher, names }
    watcher.on('change', (_event, name) => {
      if (matters(String(name ?? ''), watched.names)) changed()
    })
    // A folder that goes away is reported by the next load.
    watcher.on('error', changed)
    watchers.set(folder, watched)
  }
  const follow = (files: readonly string[]): void => {
    const named = isFolder ? files : [path, ...files]
    const byFolder = Map.groupBy([...new Set(named.flatMap(withTarget))], (file) => dirname(file))
    for (const [folder, own] of byFolder) openIfThere(() => open(folder, new Set(own.map((file) => basename(file)))))
    for (const [folder, { watcher, names }] of watchers) {
      if (names === undefined || byFolder.has(folder)) continue
      watcher.close()
      watchers.delete(folder)
    }
  }
  if (isFolder) open(resolve(path), undefined)
  follow([])
  return {
    follow,
    close() {
      clearTimeout(timer)
      for (const { watcher } of watchers.values()) watcher.close()
    },
  }
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

/** Other files of the folder, such as a log that this process writes, are none of our business. */
function matters(name: string, names: ReadonlySet<string> | undefined): boolean {
  // Mounted ConfigMaps change by the swap of a link whose name begins with two dots.
  if (name === '' || name.startsWith('..')) return true
  return names === undefined ? isSourceName(name) : names.has(name)
}

/** A file that is not there yet is named by the load that needs it; its folder may be missing as well. */
function openIfThere(open: () => void): void {
  try {
    open()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  }
}
