// Tells when files of a source change. Editors write in several steps, so changes are taken together.
import { watch, type FSWatcher } from 'node:fs'
import { dirname } from 'node:path'

/** Long enough for an editor's rename and write, far below what a person notices. */
const DEBOUNCE_MS = 25

export interface SourceWatch {
  close(): void
}

/** Watches folders, not files: editors replace files, and the watch of a replaced file is blind. */
export function watchPaths(paths: readonly string[], isFolder: boolean, onChange: () => void): SourceWatch {
  let timer: NodeJS.Timeout | undefined
  const changed = (): void => {
    clearTimeout(timer)
    timer = setTimeout(onChange, DEBOUNCE_MS)
  }
  const folders = new Set(isFolder ? paths : paths.map((path) => dirname(path)))
  const watchers: FSWatcher[] = []
  for (const folder of folders) {
    const watcher = watch(folder, { recursive: isFolder }, changed)
    // A folder that goes away is reported by the next load.
    watcher.on('error', changed)
    watchers.push(watcher)
  }
  return {
    close() {
      clearTimeout(timer)
      for (const watcher of watchers) watcher.close()
    },
  }
}
