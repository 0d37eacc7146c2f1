import { describe, expect, it } from 'vitest'
import type { RenderedConfig } from './types.gen.ts'
import { validateConfig, validateSecrets } from './validate.ts'

const empty: RenderedConfig = {
  version: 2,
  binds: [],
  listeners: [],
  routes: [],
  tcpRoutes: [],
  backends: [],
  policies: [],
  services: [],
  workloads: [],
}

const problems = (value: unknown) => validateConfig(value).map(({ path, reason }) => `${path} ${reason}`)

describe('validateConfig', () => {
  it('accepts an empty configuration', () => {
    expect(validateConfig(empty)).toEqual([])
  })

  it('names the path of an invalid value', () => {
    expect(problems({ ...empty, binds: [{ key: 'a/b/c', port: 0 }], more: 1 })).toEqual([
      'more FieldUnknown',
      'binds[0].port FieldValueInvalid',
    ])
    const { workloads: _workloads, ...rest } = empty
    expect(problems(rest)).toEqual(['workloads FieldValueRequired'])
    expect(problems({ ...empty, version: 99 })).toEqual(['version FieldValueNotSupported'])
  })

  it.each([null, undefined, 'text', 7, []])('rejects %j', (value) => {
    expect(problems(value)).toEqual([' FieldValueTypeInvalid'])
  })
})

describe('validateSecrets', () => {
  it('accepts secrets', () => {
    expect(validateSecrets({ version: 1, secrets: [{ key: 'ns/name/key', value: 'hidden' }] })).toEqual([])
  })

  it('never repeats a value', () => {
    const found = validateSecrets({
      version: 1,
      secrets: [{ key: '', value: ['hidden'] }, 'hidden', { hidden: 'hidden' }],
    })
    expect(found.map(({ path }) => path)).toEqual([
      'secrets[0].key',
      'secrets[0].value',
      'secrets[1]',
      'secrets[2].key',
      'secrets[2].value',
      'secrets[2].hidden',
    ])
    expect(found.map(({ message }) => message).filter((message) => message.includes('hidden'))).toEqual([
      'unknown field "secrets[2].hidden"',
    ])
  })
})
