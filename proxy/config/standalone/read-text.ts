// The text of a file that a configuration names.
import { readFileSync, statSync } from 'node:fs'

/** As much as a ConfigMap may have. */
const FILE_BYTES_MAX = 1024 * 1024

export function readText(file: string): { readonly text: string } | { readonly problem: string } {
  try {
    if (statSync(file).size > FILE_BYTES_MAX) throw new Error(`it is larger than ${FILE_BYTES_MAX} bytes`)
    return { text: readFileSync(file, 'utf8') }
  } catch (error) {
    return { problem: `${file} cannot be read: ${reasonOf(error)}` }
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error ? error.code : undefined
  if (code === 'ENOENT') return 'it does not exist'
  return code === 'EACCES' ? 'permission denied' : error.message
}
