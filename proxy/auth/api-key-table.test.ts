import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { SecretString } from '#api/cel/values/secret-string.ts'
import { KEY_ENTRY } from '../exchange/client-name.ts'
import { ApiKeyTable } from './api-key-table.ts'

const hashOf = (key: string): string => `sha256:${createHash('sha256').update(key).digest('hex')}`
const tableOf = (...values: (string | undefined)[]): ApiKeyTable =>
  new ApiKeyTable(
    values.map((value, i) => ({ name: `ns/keys/${i}`, value })),
    [],
  )

describe('entries', () => {
  it.each<[string, string, string, object]>([
    ['raw', 'k-1', 'k-1', {}],
    ['raw with the newline of files', 'k-1\n', 'k-1', {}],
    ['JSON with key', '{"key": "k-1"}', 'k-1', {}],
    ['JSON with hash', JSON.stringify({ keyHash: hashOf('k-1') }), 'k-1', {}],
    ['hash in capitals', JSON.stringify({ keyHash: hashOf('k-1').toUpperCase().replace('SHA', 'sha') }), 'k-1', {}],
    [
      'metadata',
      '{"key": "k-1", "metadata": {"team": "a", "level": 2, "tags": [1]}}',
      'k-1',
      { team: 'a', level: 2n, tags: [1n] },
    ],
    ['metadata that claims to be the key', '{"key": "k-1", "metadata": {"key": "other"}}', 'k-1', {}],
    ['text beyond ASCII', 'schön', 'schön', {}],
  ])('%s', (_, value, key, metadata) => {
    const table = tableOf(value)
    expect(table.warnings).toEqual([])
    const found = table.find(key)
    expect(found).toMatchObject(metadata)
    expect(found?.['key'] instanceof SecretString && found['key'].unredacted()).toBe(key)
    expect(inspect(found)).not.toContain(key)
    for (const wrong of ['', 'k-', 'k-11', `${key} `, hashOf(key), value + value]) {
      expect(table.find(wrong)).toBeUndefined()
    }
  })

  it.each<[string, string | undefined, RegExp]>([
    ['a missing secret', undefined, /its secret is missing/],
    ['nothing', ' \n', /it is empty/],
    ['broken JSON', '{"key": "k-secret"', /starts like JSON/],
    ['neither key nor hash', '{"metadata": {}}', /exactly one of/],
    ['both', '{"key": "k-secret", "keyHash": "x"}', /exactly one of/],
    ['a key that is not a string', '{"key": 1}', /`key` is not a string/],
    ['an empty key', '{"key": ""}', /it is empty/],
    ['a hash without its name', JSON.stringify({ keyHash: 'a'.repeat(64) }), /64 hex digits/],
    ['a short hash', '{"keyHash": "sha256:abc"}', /64 hex digits/],
    ['metadata that is not an object', '{"key": "k-secret", "metadata": ["a"]}', /`metadata` is not an object/],
    ['a member it does not know', '{"key": "k-secret", "allowedModels": ["a"]}', /has a member other than/],
    ['too long', 'k-secret'.repeat(2000), /too long/],
  ])('leaves out %s', (_, value, warning) => {
    const table = tableOf(value, 'good')
    expect(table.size).toBe(1)
    expect(table.find('good')).toBeDefined()
    expect(table.warnings).toHaveLength(1)
    expect(table.warnings[0]).toMatch(/^API key ns\/keys\/0 is not used: /)
    expect(table.warnings[0]).toMatch(warning)
    expect(table.warnings[0]).not.toContain('k-secret')
  })
})

it('names the entry of a key, which expressions do not see', () => {
  const table = new ApiKeyTable([{ name: 'ns/keys/ann', value: 'k-1' }], [{ keyHash: hashOf('k-2') }])
  const [ann, hashed] = [table.find('k-1'), table.find('k-2')]
  expect([ann, hashed].map((found) => found !== undefined && Reflect.get(found, KEY_ENTRY))).toEqual([
    'ns/keys/ann',
    'hash 0',
  ])
  expect(Object.keys(ann ?? {})).toEqual(['key'])
  expect(JSON.stringify(ann)).toBe('{"key":"<redacted>"}')
})

it('accepts hashes from ConfigMaps', () => {
  const table = new ApiKeyTable([], [{ keyHash: hashOf('a'), metadata: { team: 'x' } }, { keyHash: 'a' }])
  expect(table.find('a')).toMatchObject({ team: 'x' })
  expect(table.warnings).toEqual(['API key hash 1 is not used: `keyHash` is not `sha256:` followed by 64 hex digits'])
})

it('does not change its input metadata', () => {
  const hashes = [{ keyHash: hashOf('a'), metadata: { list: [1] } }]
  const tables = [new ApiKeyTable([], hashes), new ApiKeyTable([], hashes)]
  expect(tables.map((table) => table.find('a'))).toMatchObject([{ list: [1n] }, { list: [1n] }])
  expect(hashes).toEqual([{ keyHash: hashOf('a'), metadata: { list: [1] } }])
})

it('without entries accepts no key, and warns', () => {
  const table = new ApiKeyTable([], [])
  expect(table.warnings).toEqual(['no usable API key: every key is rejected'])
  expect([table.find(''), table.find('undefined'), table.find('a'.repeat(9000))]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})
