// Entry of the thread that checks passwords: bcrypt takes tens of milliseconds by design, too long for a worker.
// Started by password-checker.ts only.
import { parentPort } from 'node:worker_threads'
import type { PasswordHash } from '#api/credentials/htpasswd.ts'
import { isPasswordOf } from './password-hash.ts'

export interface PasswordQuestion {
  readonly id: number
  readonly password: string
  readonly hash: PasswordHash
}

export interface PasswordAnswer {
  readonly id: number
  readonly isRight: boolean
}

parentPort?.on('message', ({ id, password, hash }: PasswordQuestion) => {
  const answer: PasswordAnswer = { id, isRight: isRightPassword(password, hash) }
  parentPort?.postMessage(answer)
})

/** A hash that the library rejects matches no password, and must not lose the other pending checks. */
function isRightPassword(password: string, hash: PasswordHash): boolean {
  try {
    return isPasswordOf(password, hash)
  } catch {
    return false
  }
}
