import { describe, expect, it } from 'vitest'
import { HeaderList } from '../message/headers.ts'
import { exchangeOf } from '../policy/exchange.testing.ts'
import { paramMismatch, rememberedToolHeaders, setParamHeaders, type ToolHeader } from './tool-headers.ts'

function declared(inputSchema: object): readonly ToolHeader[] {
  const headers = rememberedToolHeaders()
  const exchange = exchangeOf()
  headers.set(exchange, 'a', [{ name: 'x', item: { inputSchema } }])
  return headers.get(exchange, 'a')?.get('x') ?? []
}

const SCHEMA = {
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    filter: { properties: { limit: { type: 'integer', 'x-mcp-header': 'Limit' } } },
    invalid: { type: 'string', 'x-mcp-header': 'no token' },
    list: { items: { 'x-mcp-header': 'Item' } },
  },
}

describe('headers of a tool', () => {
  it('are found at any depth of its properties', () => {
    expect(declared(SCHEMA)).toEqual([
      { name: 'mcp-param-region', path: ['region'] },
      { name: 'mcp-param-limit', path: ['filter', 'limit'] },
    ])
    expect(declared({ properties: { x: {} } })).toEqual([])
  })

  it('follow changed arguments', () => {
    const headers = HeaderList.of([
      ['mcp-param-region', 'eu'],
      ['mcp-param-limit', '1'],
    ])
    setParamHeaders(headers, declared(SCHEMA), { region: 'näher' })
    expect(headers.fields).toEqual(['mcp-param-region', '=?base64?bsOkaGVy?='])
  })

  it.each([
    [{ region: 'eu' }, { region: 'eu' }, undefined],
    [{ filter: { limit: 42 } }, { limit: '42.0' }, undefined],
    [{ filter: { limit: 42 } }, { limit: '0x2a' }, 'the header mcp-param-limit does not match the arguments'],
    [{ region: true }, { region: 'true' }, undefined],
    [{ region: null }, {}, undefined],
    [{ region: null }, { region: 'eu' }, 'the header mcp-param-region does not match the arguments'],
    [{ region: 'eu' }, {}, 'the header mcp-param-region is missing'],
    [{ region: 'eu' }, { region: '=?base64?ZX?=' }, 'the header mcp-param-region is not valid base64'],
  ])('with the arguments %o and the values %o: %s', (args, values, expected) => {
    const headers = HeaderList.of(Object.entries(values).map(([name, value]) => [`mcp-param-${name}`, value]))
    expect(paramMismatch(headers, declared(SCHEMA), args)).toBe(expected)
  })
})
