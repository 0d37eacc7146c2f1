// What the log has of a defect: the stack, no credential, and no more lines than one can read.
import { afterEach, expect, it } from 'vitest'
import { defects, failByDefect } from '../exchange/defects.ts'
import type { Logger, LogFields } from '../log/logger.ts'
import { BodyAborted } from '../message/body.ts'
import { exchangeOf } from '../policy/exchange.testing.ts'
import { logDefects } from './defect-log.ts'

const lines: { message: string; fields: LogFields | undefined }[] = []
const log = (message: string, fields?: LogFields): void => void lines.push({ message, fields })
const logger: Logger = {
  isEnabled: () => true,
  log: (_level, message, fields) => log(message, fields),
  error: log,
  warn: log,
  info: log,
  debug: log,
}

afterEach(() => {
  lines.length = 0
  defects.onReport = undefined
})

it('has place and stack, without credentials', () => {
  logDefects(logger)
  defects.report('csrf', new TypeError('no member of https://user:password@host/'))
  const [line] = lines
  expect([line?.message, line?.fields?.['place']]).toEqual(['internal error', 'csrf'])
  expect(line?.fields?.['error']).toMatch(
    /TypeError: no member of https:\/\/<redacted>@host\/\n +at .*defect-log\.test\.ts/,
  )
})

it('has no message of errors that quote what they parsed', () => {
  logDefects(logger)
  defects.report('llm', new SyntaxError('Unexpected token in "my secret"'))
  expect(lines[0]?.fields?.['error']).toMatch(/^SyntaxError\n +at /)
})

it('is not filled by requests that meet the same bug', () => {
  logDefects(logger)
  const before = defects.count
  for (let i = 0; i < 1000; i++) defects.report('csrf', 'again')
  expect(lines).toHaveLength(10)
  expect(defects.count - before).toBe(1000)
})

it('has no line for a body that ends early, which is the fault of a peer or a deadline', () => {
  logDefects(logger)
  const before = defects.count
  expect(failByDefect(exchangeOf(), 'mcp', new BodyAborted('the deadline has passed')).status).toBe(503)
  expect(lines).toEqual([])
  expect(defects.count - before).toBe(0)
})
