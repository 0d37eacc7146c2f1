// Which tokens with unknown keys are counted: few of many, because any client can create them.
import { expect, it } from 'vitest'
import { keySetId, UNKNOWN_KEYS_MAX } from '#api/delivery/unknown-keys.ts'
import { MissedKeys } from './missed-keys.ts'

it('counts each set at most every 10 s', () => {
  let nowMs = 0
  const missed = new MissedKeys(() => nowMs)
  expect(missed.word()).toEqual({})
  expect([missed.add('a'), missed.add('a'), missed.add('b')]).toEqual([true, false, true])
  nowMs = 9_999
  expect(missed.add('a')).toBe(false)
  nowMs = 10_000
  expect(missed.add('a')).toBe(true)
  expect(missed.word()).toEqual({ unknownKeys: { [keySetId('a')]: 2, [keySetId('b')]: 1 } })
})

it('drops the sets whose last missing key is oldest', () => {
  const missed = new MissedKeys()
  for (let at = 0; at <= UNKNOWN_KEYS_MAX; at++) missed.add(String(at))
  const ids = Object.keys(missed.word().unknownKeys ?? {})
  expect(ids).toHaveLength(UNKNOWN_KEYS_MAX)
  expect([ids.includes(keySetId('0')), ids.includes(keySetId('1'))]).toEqual([false, true])
})
