import { describe, expect, it } from 'vitest'
import type { LevelFilter } from './level-filter.ts'
import type { LoggerRoot } from './logger.ts'
import { createLogger } from './logger.ts'
import { redactText } from '../message/redact.ts'

const FILTER: LevelFilter = { defaultLevel: 'info', modules: new Map([['quiet', 'error']]) }

function setUp(format: 'text' | 'json'): { root: LoggerRoot; lines: string[] } {
  const lines: string[] = []
  return { root: createLogger({ format, filter: FILTER, write: (line) => lines.push(line) }), lines }
}

describe('createLogger', () => {
  it('writes text lines in the format of the access log', () => {
    const { root, lines } = setUp('text')
    root.module('pool').warn('slow', { worker: 3, path: '/a b', isDone: false, none: undefined })
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z\twarn\tpool slow worker=3 path="\/a b" isDone=false\n$/,
    )
  })

  it('writes JSON lines', () => {
    const { root, lines } = setUp('json')
    root.module('pool').info('up', { worker: 3 })
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      level: 'info',
      time: expect.any(String),
      scope: 'pool',
      message: 'up',
      worker: 3,
    })
  })

  it('never lets a message or field make a second line', () => {
    const { root, lines } = setUp('text')
    root.module('x').error('a\nb\r\u2028c\u001b[2J', { field: 'd\ne', other: 'f\u0085g\u202e' })
    expect(lines[0]?.split('\terror\t')[1]).toBe('x a\\nb\\r\\u2028c\\x1b[2J field="d\\ne" other="f\\u0085g\\u202e"\n')
  })

  it('follows levels of modules and their changes', () => {
    const { root, lines } = setUp('text')
    const quiet = root.module('quiet')
    quiet.warn('no')
    root.module('loud').debug('no')
    expect(lines).toEqual([])
    expect(root.changeLevels('quiet=debug', { isReset: false })).toBeUndefined()
    expect(root.directive).toBe('info,quiet=debug')
    expect(quiet.isEnabled('debug')).toBe(true)
    quiet.debug('yes')
    expect(lines).toHaveLength(1)
    expect(root.changeLevels('nonsense', { isReset: false })).toContain('nonsense')
    expect(root.directive).toBe('info,quiet=debug')
    root.changeLevels('warn', { isReset: true })
    expect(root.directive).toBe('warn,quiet=error')
    root.reset()
    expect(root.directive).toBe('info,quiet=error')
  })
})

describe('redact', () => {
  it.each([
    ['cannot reach https://user:pw@host/x', 'cannot reach https://<redacted>@host/x'],
    ['got Authorization: Bearer abcdefghijk', 'got Authorization: Bearer <redacted>'],
    ['plain text', 'plain text'],
  ])('redacts %j', (text, clean) => {
    expect(redactText(text)).toBe(clean)
  })
})
