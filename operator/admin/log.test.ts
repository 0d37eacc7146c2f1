import { Effect, Logger, References } from 'effect'
import { describe, expect, it } from 'vitest'
import { LogLevels, operatorLogger } from './log.ts'

function lines(levels: LogLevels, effect: Effect.Effect<void>): unknown[] {
  const written: string[] = []
  const logger = operatorLogger(levels, (line) => written.push(line))
  Effect.runSync(
    effect.pipe(Effect.provide(Logger.layer([logger])), Effect.provideService(References.MinimumLogLevel, 'Trace')),
  )
  return written.map((line) => JSON.parse(line) as unknown)
}

describe('LogLevels', () => {
  const talk = Effect.gen(function* () {
    yield* Effect.logDebug('details')
    yield* Effect.logInfo('news', 'shop/web')
  })

  it('has one level for each component', () => {
    const levels = new LogLevels('info')
    expect(lines(levels, talk)).toMatchObject([
      { level: 'info', msg: 'news', component: 'default', detail: 'shop/web' },
    ])
    const translator = talk.pipe(Effect.annotateLogs('component', 'translator'))
    expect(levels.change(new URLSearchParams('translator=debug'))).toBeUndefined()
    expect(lines(levels, talk)).toHaveLength(1)
    expect(lines(levels, translator)).toMatchObject([{ msg: 'details', component: 'translator' }, { msg: 'news' }])
    expect(levels.change(new URLSearchParams('level=error'))).toBeUndefined()
    expect(lines(levels, translator)).toEqual([])
  })

  it.each(['level=loud', 'translator=', 'unknown=info'])('rejects %s and changes nothing', (query) => {
    const levels = new LogLevels('warn')
    const before = levels.report()
    expect(levels.change(new URLSearchParams(`deployer=debug&${query}`))).toHaveProperty('problem')
    expect(levels.report()).toBe(before)
  })

  it('escapes control characters in text of users', () => {
    const written: string[] = []
    const logger = operatorLogger(new LogLevels('info'), (line) => written.push(line))
    const text = 'a\u001b[2J\u202e\u0085\nb'
    Effect.runSync(Effect.logInfo(text).pipe(Effect.provide(Logger.layer([logger]))))
    expect(written[0]).toContain(String.raw`a\u001b[2J\u202e\u0085\nb`)
    expect(JSON.parse(written[0] ?? '')).toMatchObject({ msg: text })
  })

  it('reports every component', () => {
    expect(new LogLevels('info').report()).toMatch(/^current log levels:\n---\ndefault: info\n(.*: info\n){8}$/)
  })
})
