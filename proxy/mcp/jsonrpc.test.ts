// Which texts are messages, and that numbers are written unchanged.
import { describe, expect, it } from 'vitest'
import { parseMessage } from './jsonrpc.ts'

describe('parseMessage', () => {
  it.each([
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"id":12345678901234567890}}}',
    '{"jsonrpc":"2.0","id":"a","result":{"structuredContent":{"at":-9007199254740993}}}',
    '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1763853600000000001}}',
  ])('keeps the numbers of %s', (text) => {
    expect(JSON.stringify(parseMessage(text))).toBe(text)
  })

  it.each([
    ['an id that a double does not hold', '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}'],
    ['too many levels', `{"jsonrpc":"2.0","id":1,"result":{"a":${'['.repeat(200)}${']'.repeat(200)}}}`],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]'],
    ['another version', '{"jsonrpc":"1.0","id":1,"method":"ping"}'],
  ])('refuses %s', (_, text) => expect(parseMessage(text)).toBeUndefined())
})
