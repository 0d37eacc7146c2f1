// The YAML files of a path: the file itself, or all files of a folder, in the same order on every machine.
import { isUtf8 } from 'node:buffer'
import { closeSync, openSync, readdirSync, readlinkSync, readSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

const EXTENSIONS = ['.yaml', '.yml', '.json']
const FILES_MAX = 10_000
const FILE_BYTES_MAX = 16 * 1024 * 1024
const PIECE_BYTES = 64 * 1024
/** No text has it; of a binary file it is near the start. */
const NUL = 0
const BINARY_HEAD_BYTES = 8192

export interface SourceFile {
  readonly path: string
  readonly text: string
}

/** Why nothing was read. */
export interface Unread {
  /** File, line and message in one line. */
  readonly problem: string
  readonly file: string
  /** From 1; 0 if the problem is about the whole file. */
  readonly line: number
  readonly message: string
}

/** `-` is standard input. */
export function readSources(path: string): { files: SourceFile[] } | Unread {
  try {
    if (path === '-') return readAll([{ path: '<stdin>', source: 0 }])
    if (!statSync(path).isDirectory()) return readAll([{ path, source: path }])
    const paths = readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => (entry.isFile() || entry.isSymbolicLink()) && isSourceName(entry.name))
      .filter(({ parentPath }) => !isMountStore(relative(path, parentPath)))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
    if (paths.length === 0) return unread(path, 'no .yaml, .yml or .json file in this folder')
    if (paths.length > FILES_MAX) return unread(path, `more than ${FILES_MAX} files`)
    return readAll(paths.map((file) => ({ path: file, source: file })))
  } catch (error) {
    return unread(path, readProblem(path, error))
  }
}

function unread(file: string, message: string, line = 0): Unread {
  return { problem: `${file}${line === 0 ? '' : `:${line}`}: ${message}`, file, line, message }
}

export function isSourceName(name: string): boolean {
  return EXTENSIONS.some((extension) => name.endsWith(extension))
}

/** Folders of a mounted ConfigMap with its current and previous files; the links of the ConfigMap point there. */
function isMountStore(folder: string): boolean {
  return folder.split(sep).some((name) => name.startsWith('..'))
}

/** `source`: a path, or a file descriptor. */
function readAll(
  inputs: readonly { readonly path: string; readonly source: string | number }[],
): { files: SourceFile[] } | Unread {
  const files: SourceFile[] = []
  for (const { path, source } of inputs) {
    const read = readFile(path, source)
    if ('problem' in read) return read
    files.push({ path, text: read.text })
  }
  return { files }
}

function readFile(path: string, source: string | number): { text: string } | Unread {
  try {
    if (typeof source === 'string' && statSync(source).size > FILE_BYTES_MAX) return tooLarge(path)
    const bytes = boundedBytes(source)
    if (bytes === undefined) return tooLarge(path)
    if (isBinary(bytes)) return unread(path, 'is a binary file; pass YAML or JSON, saved as UTF-8', 1)
    if (isUtf8(bytes)) return { text: bytes.toString('utf8') }
    return unread(path, 'is not valid UTF-8; save the file as UTF-8', lineOfBadText(bytes))
  } catch (error) {
    return unread(path, readProblem(path, error))
  }
}

/** undefined: there are more. Devices and pipes have no size, and some have no end. */
function boundedBytes(source: string | number): Buffer | undefined {
  const descriptor = typeof source === 'number' ? source : openSync(source, 'r')
  try {
    const pieces: Buffer[] = []
    let total = 0
    while (total <= FILE_BYTES_MAX) {
      const piece = Buffer.allocUnsafe(PIECE_BYTES)
      const length = readSync(descriptor, piece)
      if (length === 0) return Buffer.concat(pieces, total)
      pieces.push(piece.subarray(0, length))
      total += length
    }
    return undefined
  } finally {
    if (descriptor !== source) closeSync(descriptor)
  }
}

/** UTF-16 has such bytes too, after a byte order mark. */
function isBinary(bytes: Buffer): boolean {
  const isUtf16 = bytes.length >= 2 && [0xfeff, 0xfffe].includes(bytes.readUInt16BE())
  return !isUtf16 && bytes.subarray(0, BINARY_HEAD_BYTES).includes(NUL)
}

function tooLarge(path: string): Unread {
  return unread(path, `larger than ${FILE_BYTES_MAX} bytes; split it`)
}

/** From 1. Line ends are never part of another character in UTF-8. */
function lineOfBadText(bytes: Buffer): number {
  let line = 1
  let start = 0
  for (
    let end = bytes.indexOf(0x0a);
    end >= 0 && isUtf8(bytes.subarray(start, end));
    end = bytes.indexOf(0x0a, start)
  ) {
    line++
    start = end + 1
  }
  return line
}

/** Why a file or folder cannot be read. */
export function readProblem(path: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT') {
    const target = linkTarget(path)
    return target === undefined ? 'no such file or folder' : `the target ${target} of the link does not exist`
  }
  if (code === 'EACCES') return `permission denied${inside(path, error)}; make it readable for the user who runs gw`
  if (code === 'ELOOP') return 'the link points to itself; make it point to a file'
  if (code === 'ENOTDIR') return 'no such file or folder: a part of the path is a file'
  return error instanceof Error ? error.message : String(error)
}

/** Of a folder: the file or folder in it that cannot be read. */
function inside(path: string, error: unknown): string {
  const at = error instanceof Error && 'path' in error ? String(error.path) : path
  return at === path ? '' : ` for ${relative(path, at)}`
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    // Not a link: nothing exists at the path.
    return undefined
  }
}
