import { describe, expect, it } from 'vitest'
import type { LevelFilter } from './level-filter.ts'
import { addDirectives, formatLevelFilter, levelOfModule, parseLevelFilter } from './level-filter.ts'

function filterOf(directive: string): LevelFilter {
  const filter = parseLevelFilter(directive)
  if ('problem' in filter) throw new Error(filter.problem)
  return filter
}

describe('parseLevelFilter', () => {
  it.each([
    ['info', 'info'],
    ['DEBUG', 'debug'],
    ['off,a=info,b=OFF', 'off,a=info,b=off'],
    ['router=debug', 'info,router=debug'],
    [' warn , a=trace,b=error,', 'warn,a=trace,b=error'],
    ['a=debug,a=warn', 'info,a=warn'],
    ['debug,info', 'info'],
    ['proxy::mcp=debug', 'info,proxy.mcp=debug'],
  ])('reads %j as %j', (directive, formatted) => {
    expect(formatLevelFilter(filterOf(directive))).toBe(formatted)
  })

  it.each([
    ['', 'empty'],
    [',', 'empty'],
    ['loud', '"loud" is not a log level'],
    ['a=', '"a=" is not a log level'],
    ['a b=info', '"a b" is not a module name'],
    ['=info', '"" is not a module name'],
    ['x'.repeat(5000), 'too long'],
    [Array.from({ length: 65 }, (_, i) => `m${i}=info`).join(','), 'more than 64 modules'],
  ])('refuses %j', (directive, problem) => {
    expect(parseLevelFilter(directive)).toEqual({ problem: expect.stringContaining(problem) })
  })
})

describe('addDirectives', () => {
  it('adds to what is there', () => {
    const next = addDirectives(filterOf('warn,a=debug,b=info'), 'b=trace,c=error')
    expect('problem' in next ? next : formatLevelFilter(next)).toBe('warn,a=debug,b=trace,c=error')
  })
})

describe('levelOfModule', () => {
  it.each([
    ['router', 'debug'],
    ['router.match', 'debug'],
    ['router.tree.node', 'trace'],
    ['routers', 'warn'],
    ['other', 'warn'],
  ])('%s is %s', (module, level) => {
    expect(levelOfModule(filterOf('warn,router=debug,router.tree=trace'), module)).toBe(level)
  })
})
