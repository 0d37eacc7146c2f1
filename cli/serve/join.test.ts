import { expect, it } from 'vitest'
import { emptyConfig } from '#api/ir/empty.ts'
import { joinTo, type Rendered } from './join.ts'

function rendered(ports: readonly number[], secret?: string): Rendered {
  return {
    config: { ...emptyConfig(), binds: ports.map((port) => ({ key: String(port), port })) },
    secrets: { version: 1, secrets: secret === undefined ? [] : [{ key: secret, value: 'v' }] },
  }
}

it('puts one configuration before the other', () => {
  const { config, secrets } = joinTo(rendered([1], 'a'))(rendered([2, 3], 'b'))
  expect(config).toEqual(rendered([1, 2, 3]).config)
  expect(secrets.secrets.map(({ key }) => key)).toEqual(['a', 'b'])
})

it.each([[[]], [[1]]])('keeps lists and secrets that stay, after those of ports %j', (ports) => {
  const join = joinTo(rendered(ports, 'a'))
  const second = rendered([2], 'b')
  const joined = join(second)
  const next = join({ config: { ...second.config, routes: [] }, secrets: { ...second.secrets } })
  expect(next.config.binds).toBe(joined.config.binds)
  expect(next.config.routes).not.toBe(joined.config.routes)
  expect(next.secrets).toBe(joined.secrets)
  expect(join(rendered([3], 'c'))).toEqual({
    config: rendered([...ports, 3]).config,
    secrets: { version: 1, secrets: ['a', 'c'].map((key) => ({ key, value: 'v' })) },
  })
})

it('keeps the same lists if the first configuration is empty', () => {
  const second = rendered([2], 'b')
  const joined = joinTo(rendered([]))(second)
  expect(joined.config.binds).toBe(second.config.binds)
  expect(joined.secrets.secrets).toBe(second.secrets.secrets)
})

it('keeps the functions that the first configuration declares', () => {
  const first = rendered([1])
  const join = joinTo({ ...first, config: { ...first.config, customFunctions: 'one() { 1 }' } })
  expect(join(rendered([2])).config.customFunctions).toBe('one() { 1 }')
  expect(joinTo(first)(rendered([2])).config).not.toHaveProperty('customFunctions')
})
