import { expect, it } from 'vitest'
import { redactTree } from './redact-tree.ts'

it('hides values of credential header fields, environments, and private members of key sets, and keeps the rest', () => {
  const set = [
    { name: 'Authorization', value: 'Bearer hunter2' },
    { name: 'x-api-key', expression: '"hunter2"' },
    { name: 'x-team', value: 'shop' },
  ]
  const key = { kty: 'EC', kid: 'a', crv: 'P-256', x: 'x', y: 'y', d: 'hunter2' }
  const hidden = redactTree({
    requestHeaderModifier: { set },
    env: { TOKEN: 'hunter2', LIST: ['hunter2'] },
    providers: [{ jwks: JSON.stringify({ keys: [key] }) }, { jwks: 'hunter2' }],
  })
  expect(JSON.stringify(hidden)).not.toContain('hunter2')
  expect(hidden.requestHeaderModifier.set).toEqual([
    { name: 'Authorization', value: '<redacted>' },
    { name: 'x-api-key', expression: '<redacted>' },
    { name: 'x-team', value: 'shop' },
  ])
  expect(hidden.providers[0]?.jwks).toContain('"kid":"a"')
})

it('cuts data that is deeper than any configuration', () => {
  const nest = (depth: number): unknown => (depth === 0 ? 'hunter2' : [nest(depth - 1)])
  expect(JSON.stringify(redactTree(nest(64)))).toContain('hunter2')
  expect(JSON.stringify(redactTree(nest(65)))).not.toContain('hunter2')
})
