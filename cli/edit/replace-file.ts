// Replaces the content of a file in one step: readers see the old content or the new one, also after a crash.
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { writeFileSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { basename, dirname, join } from 'node:path'

/**
 * A link stays a link; the file that it names is replaced, with its mode and owner. `isCurrent`: asked last.
 * @returns whether the file was replaced
 * @throws {Error} of the file system; then the file is unchanged.
 */
export function replaceFile(path: string, text: string, isCurrent: () => boolean): boolean {
  const file = realpathSync(path)
  const { mode, uid, gid } = statSync(file)
  // Without an ending of manifests: a watched folder ignores it.
  const next = join(dirname(file), `.${basename(file)}.${randomBytes(6).toString('hex')}.tmp`)
  const descriptor = openSync(next, 'wx', 0o600)
  try {
    writeFileSync(descriptor, text)
    if (uid !== process.getuid?.() || gid !== process.getgid?.()) fchownSync(descriptor, uid, gid)
    fchmodSync(descriptor, mode & 0o7777)
    fsyncSync(descriptor)
    if (!isCurrent()) return false
    renameSync(next, file)
  } finally {
    closeSync(descriptor)
    rmSync(next, { force: true })
  }
  syncFolder(dirname(file))
  return true
}

/** So that the new name is on the disk as well. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
