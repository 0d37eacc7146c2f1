// The SHA-256 and SHA-512 kinds of crypt(3), `$5$` and `$6$`, as Ulrich Drepper published them in "Unix crypt using
// SHA-256 and SHA-512". Own code: the existing library is wrong for passwords that fill whole digests.
// Thousands of rounds: never call it in a worker.
import { hash } from 'node:crypto'

/** `$5$salt$…`, or `$5$rounds=N$salt$…` where N is not 5000. */
const SETTING = /^\$([56])\$(?:rounds=(\d+)\$)?([^$]*)\$/
const ROUNDS = 5000
const DIGITS = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

interface Kind {
  readonly algorithm: 'sha256' | 'sha512'
  /** Groups of three bytes of the digest: the first group, and the step to the next. */
  readonly order: readonly [number, number, number]
  readonly next: (bytes: readonly [number, number, number]) => [number, number, number]
  /** The remaining bytes of the digest at the end, the highest byte first. */
  readonly rest: readonly number[]
}

const KINDS: Readonly<Record<string, Kind>> = {
  '5': {
    algorithm: 'sha256',
    order: [0, 10, 20],
    next: ([a, b, c]) => [c + 1, a + 1, b + 1],
    rest: [31, 30],
  },
  '6': {
    algorithm: 'sha512',
    order: [0, 21, 42],
    next: ([a, b, c]) => [b + 1, c + 1, a + 1],
    rest: [63],
  },
}

/** The hash text for this password; empty if `text` is not such a hash. */
export function shaCrypt(password: string, text: string): string {
  const [setting, kindName = '', rounds = ROUNDS, salt = ''] = SETTING.exec(text) ?? []
  const kind = KINDS[kindName]
  if (setting === undefined || kind === undefined) return ''
  const digest = digestOf(kind.algorithm, {
    password: Buffer.from(password, 'utf8'),
    salt: Buffer.from(salt, 'latin1'),
    rounds: Number(rounds),
  })
  return setting + encoded(digest, kind)
}

interface Input {
  readonly password: Buffer
  readonly salt: Buffer
  readonly rounds: number
}

function digestOf(algorithm: 'sha256' | 'sha512', { password, salt, rounds }: Input): Buffer {
  const sum = (parts: readonly Uint8Array[]): Buffer => hash(algorithm, Buffer.concat(parts), 'buffer')
  const both = sum([password, salt, password])
  const parts = [password, salt, repeated(both, password.length)]
  for (let length = password.length; length > 0; length >>= 1) parts.push(length % 2 === 1 ? both : password)
  let digest = sum(parts)
  const p = repeated(sum(Array<Buffer>(password.length).fill(password)), password.length)
  const s = repeated(sum(Array<Buffer>(16 + (digest[0] ?? 0)).fill(salt)), salt.length)
  const scratch = Buffer.alloc(2 * p.length + s.length + digest.length)
  for (let round = 0; round < rounds; round++) {
    const isOdd = round % 2 === 1
    let length = (isOdd ? p : digest).copy(scratch)
    if (round % 3 !== 0) length += s.copy(scratch, length)
    if (round % 7 !== 0) length += p.copy(scratch, length)
    length += (isOdd ? digest : p).copy(scratch, length)
    digest = hash(algorithm, scratch.subarray(0, length), 'buffer')
  }
  return digest
}

function repeated(digest: Buffer, length: number): Buffer {
  return Buffer.alloc(length, digest)
}

function encoded(digest: Buffer, { order, next, rest }: Kind): string {
  let text = ''
  let at: readonly [number, number, number] = order
  for (let triple = 0; triple < Math.floor(digest.length / 3); triple++) {
    text += digits(at.map((index) => digest[index] ?? 0))
    at = next(at)
  }
  return text + digits(rest.map((index) => digest[index] ?? 0))
}

/** Six bits each, the lowest first. */
function digits(bytes: readonly number[]): string {
  let value = bytes.reduce((sum, byte) => sum * 256 + byte, 0)
  let text = ''
  for (let count = 0; count <= bytes.length; count++) {
    text += DIGITS.charAt(value % 64)
    value = Math.floor(value / 64)
  }
  return text
}
