// Checks one password against one hash, synchronously. All kinds but `sha1` are slow: never call it in a worker.
import { hash, timingSafeEqual } from 'node:crypto'
import apacheMd5 from 'apache-md5'
import { hashSync } from 'bcryptjs'
import unixCrypt from 'unix-crypt-td-js'
import type { HashKind, PasswordHash } from '#api/credentials/htpasswd.ts'
import { shaCrypt } from './sha-crypt.ts'

export function isPasswordOf(password: string, expected: PasswordHash): boolean {
  const actual = Buffer.from(hashLike(password, expected), 'latin1')
  const wanted = Buffer.from(expected.text, 'latin1')
  return actual.length === wanted.length && timingSafeEqual(actual, wanted)
}

/** The hash text for this password. */
function hashLike(password: string, { kind, text }: PasswordHash): string {
  return HASH_LIKE[kind](password, text)
}

const HASH_LIKE: Readonly<Record<HashKind, (password: string, text: string) => string>> = {
  sha1: (password) => `{SHA}${hash('sha1', password, 'base64')}`,
  md5: (password, text) => apacheMd5(Buffer.from(password, 'utf8').toString('latin1'), text),
  crypt: (password, text) => unixCrypt([...Buffer.from(password, 'utf8')], text),
  shaCrypt,
  bcrypt: bcryptLike,
}

/**
 * `$2x$` marks hashes of a library with a bug for bytes above 127. For other passwords they equal `$2a$`,
 * and no other password matches.
 */
function bcryptLike(password: string, text: string): string {
  if (!text.startsWith('$2x$')) return hashSync(password, text)
  return text.slice(0, 4) + hashSync(password, `$2a$${text.slice(4)}`).slice(4)
}
