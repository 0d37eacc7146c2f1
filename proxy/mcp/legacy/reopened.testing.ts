// A session at a server, for tests.
import type { TargetSession } from '../targets/target.ts'

export function sessionAt(serverSession: string): TargetSession {
  return { target: 'a', serverSession, endpoint: undefined, isSkipped: false, isModern: false }
}
