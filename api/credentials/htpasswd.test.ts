import { describe, expect, it } from 'vitest'
import { parseHtpasswd } from './htpasswd.ts'

describe('parseHtpasswd', () => {
  const HASH = '{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g='

  it('accepts line ends of both kinds of systems, comments and empty lines', () => {
    const { users, warnings } = parseHtpasswd(`# staff\r\n\r\nalice:${HASH}\r\n  bob:${HASH}  \n`)
    expect([[...users.keys()], warnings]).toEqual([['alice', 'bob'], []])
  })

  it('the last line of a user counts', () => {
    const { users } = parseHtpasswd(`alice:${HASH}\nalice:abJnggxhB/yWI`)
    expect(users.get('alice')).toEqual({ kind: 'crypt', text: 'abJnggxhB/yWI' })
  })

  it.each([
    `$5$abc$${'a'.repeat(43)}`,
    `$6$$${'a'.repeat(86)}`,
    `$5$rounds=1000$abc$${'a'.repeat(43)}`,
    `$6$rounds=100000$1234567890123456$${'a'.repeat(86)}`,
  ])('takes the SHA kinds of crypt: %s', (text) => {
    expect(parseHtpasswd(`alice:${text}`)).toEqual({
      users: new Map([['alice', { kind: 'shaCrypt', text }]]),
      warnings: [],
    })
  })

  it.each([
    ['no colon', 'alice', 'it is not `name:hash`'],
    ['no name', `:${HASH}`, 'it is not `name:hash`'],
    ['plain text', 'alice:secret', 'its hash is not'],
    ['nothing', 'alice:', 'its hash is not'],
    ['half a SHA-256 crypt', `alice:$5$abc$${'a'.repeat(42)}`, 'its hash is not'],
    ['a SHA-256 hash in SHA-512 crypt', `alice:$6$abc$${'a'.repeat(43)}`, 'its hash is not'],
    ['a salt of crypt too long', `alice:$6$12345678901234567$${'a'.repeat(86)}`, 'its hash is not'],
    [
      'too many rounds',
      `alice:$6$rounds=100001$abc$${'a'.repeat(86)}`,
      'the rounds of its crypt hash are not between 1000 and',
    ],
    [
      'too few rounds',
      `alice:$5$rounds=999$abc$${'a'.repeat(43)}`,
      'the rounds of its crypt hash are not between 1000 and',
    ],
    ['another crypt', `alice:$y$j9T$abc$${'a'.repeat(43)}`, 'its hash is not'],
    ['a salt too long', 'alice:$apr1$123456789$U/wAA8nAvHYO2FFhGEwz5.', 'its hash is not'],
    ['half a bcrypt hash', 'alice:$2y$10$abc', 'its hash is not'],
    ['bcrypt without end', `alice:$2y$31$${'a'.repeat(53)}`, 'the cost of its bcrypt hash is not between 4 and 14'],
    ['bcrypt too cheap', `alice:$2y$03$${'a'.repeat(53)}`, 'the cost of its bcrypt hash is not between 4 and 14'],
  ])('leaves a line out: %s', (_, line, warning) => {
    const { users, warnings } = parseHtpasswd(`${line}\nbob:${HASH}`)
    expect([...users.keys()]).toEqual(['bob'])
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain(`line 1 is ignored: ${warning}`)
    expect(warnings[0]).not.toContain('alice')
  })
})
