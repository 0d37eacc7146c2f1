// Entry of the thread that checks passwords: bcrypt is made to take tens of milliseconds, which no thread with traffic
// can spare. Started by password-checker.ts only.
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

/** A hash that a library cannot take is nobody's password, and no reason to lose the questions of others. */
function isRightPassword(password: string, hash: PasswordHash): boolean {
  try {
    return isPasswordOf(password, hash)
  } catch {
    return false
  }
}
