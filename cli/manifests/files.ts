// The YAML files a path means: the file itself, or all of a folder, in one order on every machine.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

const EXTENSIONS = ['.yaml', '.yml', '.json']
const FILES_MAX = 10_000
const FILE_BYTES_MAX = 16 * 1024 * 1024

export interface SourceFile {
  readonly path: string
  readonly text: string
}

/** `-` is standard input. */
export function readSources(path: string): { files: SourceFile[] } | { problem: string } {
  try {
    if (path === '-') return { files: [{ path: '<stdin>', text: readFileSync(0, 'utf8') }] }
    if (!statSync(path).isDirectory()) return { files: [{ path, text: readFile(path) }] }
    const paths = readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => (entry.isFile() || entry.isSymbolicLink()) && isSourceName(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
    if (paths.length === 0) return { problem: `${path}: no .yaml, .yml or .json file in this folder` }
    if (paths.length > FILES_MAX) return { problem: `${path}: more than ${FILES_MAX} files` }
    return { files: paths.map((file) => ({ path: file, text: readFile(file) })) }
  } catch (error) {
    return { problem: reasonOf(path, error) }
  }
}

export function isSourceName(name: string): boolean {
  return EXTENSIONS.some((extension) => name.endsWith(extension))
}

function readFile(path: string): string {
  if (statSync(path).size > FILE_BYTES_MAX) throw new Error(`larger than ${FILE_BYTES_MAX} bytes`)
  return readFileSync(path, 'utf8')
}

function reasonOf(path: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT') return `${path}: no such file or folder`
  if (code === 'EACCES') return `${path}: permission denied`
  return `${path}: ${error instanceof Error ? error.message : String(error)}`
}
