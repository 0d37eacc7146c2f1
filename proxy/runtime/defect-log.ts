// Defects of one thread in its log, each with its stack.
import { defects } from '../exchange/defects.ts'
import type { Logger } from '../log/logger.ts'
import { redactText } from '../message/redact.ts'
import { Sparing } from './sparing.ts'

export function logDefects(logger: Logger): void {
  const sparing = new Sparing()
  defects.onReport = (place, error) => {
    if (!sparing.isDue()) return
    const notLogged = sparing.leftOut()
    logger.error('internal error', {
      place,
      error: redactText(stackOf(error)),
      ...(notLogged > 0 && { 'not.logged': notLogged }),
    })
  }
}

/** Without the message of errors that quote what was parsed: it may be a secret. */
function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return `thrown: ${typeof error}`
  const { name, message, stack = '' } = error
  const frames = stack.split('\n').filter((line) => /^ +at /.test(line))
  return [error instanceof SyntaxError ? name : `${name}: ${message}`, ...frames].join('\n')
}
