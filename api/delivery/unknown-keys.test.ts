// How the operator uses the keys that proxies miss, and which values it ignores.
import { expect, it } from 'vitest'
import { type Acknowledgement, readAcknowledgements } from './acknowledgement.ts'
import { isUnknownKeys, keySetId, setsThatLacked, UNKNOWN_KEYS_MAX, type UnknownKeys } from './unknown-keys.ts'

const [A, B] = [keySetId('["https://a.example/keys",""]'), keySetId('["https://b.example/keys",""]')]

function words(byPod: Readonly<Record<string, UnknownKeys | undefined>>): Map<string, { unknownKeys?: UnknownKeys }> {
  return new Map(
    Object.entries(byPod).map(([pod, unknownKeys]) => [pod, unknownKeys === undefined ? {} : { unknownKeys }]),
  )
}

it.each([
  ['no pod misses a key', { p: undefined }, { p: undefined }, []],
  ['the first time', { p: undefined }, { p: { [A]: 1 } }, [A]],
  ['once more', { p: { [A]: 1, [B]: 4 } }, { p: { [A]: 2, [B]: 4 } }, [A]],
  ['the same word again', { p: { [A]: 2 } }, { p: { [A]: 2 } }, []],
  ['another proxy', { p: { [A]: 2 } }, { p: { [A]: 2 }, q: { [A]: 1 } }, [A]],
  ['a proxy that started again', { p: { [A]: 7 } }, { p: { [A]: 1 } }, [A]],
  ['a proxy that went', { p: { [A]: 2 } }, {}, []],
])('%s', (_name, before, after, lacked) => {
  expect([...setsThatLacked(words(before), words(after))]).toEqual(lacked)
})

it.each([
  ['a list', [1], false],
  ['a count that is not a number', { [A]: '1' }, false],
  ['as many sets as are counted', Object.fromEntries(numbered(UNKNOWN_KEYS_MAX)), true],
  ['more', Object.fromEntries(numbered(UNKNOWN_KEYS_MAX + 1)), false],
])('accepts an acknowledgement with %s: %s', (_name, value, isBelieved) => {
  expect(isUnknownKeys(value)).toBe(isBelieved)
  const word = { generation: 1, gatewayGeneration: 1, gatewayUid: 'u', revision: 'r', unknownKeys: value }
  expect(readAcknowledgements({ pod: JSON.stringify(word) }).size).toBe(isBelieved ? 1 : 0)
})

it('fits into the size limit of an acknowledgement, with a rejection', () => {
  const word: Acknowledgement = {
    generation: 999_999,
    gatewayGeneration: 999_999,
    gatewayUid: 'u'.repeat(36),
    revision: 'r'.repeat(64),
    reads: 2,
    rejected: { generation: 999_999, message: 'm'.repeat(1024) },
    unknownKeys: Object.fromEntries(numbered(UNKNOWN_KEYS_MAX).map(([id]) => [id, Number.MAX_SAFE_INTEGER])),
  }
  expect(readAcknowledgements({ pod: JSON.stringify(word) }).get('pod')).toEqual(word)
})

function numbered(count: number): [string, number][] {
  return Array.from({ length: count }, (_, at) => [keySetId(String(at)), at])
}
