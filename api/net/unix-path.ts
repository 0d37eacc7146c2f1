// Paths of unix sockets, and of folders that hold them, as settings may name them. Pure.
import { posix } from 'node:path'

/** The root folder must not be allowed as a whole. */
const ABSOLUTE = /^\/[^/]/

/** Absolute, and written as it is read: without `.`, `..` and empty parts. */
export function isUnixPath(path: string): boolean {
  return ABSOLUTE.test(path) && !path.includes('\0') && posix.normalize(path) === path
}

/** `folder` may end with a slash, or be the socket itself. */
export function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`)
}
