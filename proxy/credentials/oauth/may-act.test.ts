// Which actors a subject token permits.
import { describe, expect, it } from 'vitest'
import { mayAct } from './may-act.ts'

const jwt = (claims: unknown): string => `h.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.s`

describe('mayAct', () => {
  const actor = { sub: 'agent', iss: 'https://idp.test', aud: ['a', 'b'], act: { sub: 'x' } }

  it.each([
    [{ sub: 'agent' }, true],
    [{ sub: 'agent', iss: 'https://idp.test' }, true],
    [{ sub: ['other', 'agent'] }, true],
    [{ aud: ['a', 'b'] }, true],
    [{ act: { sub: 'x' } }, true],
    [{ sub: 'other' }, false],
    [{ sub: 'agent', iss: 'https://other.test' }, false],
    [{ sub: [] }, false],
    [{ sub: ['other'] }, false],
    [{ aud: ['b'] }, false],
    [{ client_id: 'agent' }, false],
    [{ toString: 'agent' }, false],
    [{}, false],
    [[], false],
    ['agent', false],
    [null, false],
    [undefined, false],
  ])('with may_act %j gives %s', (permitted, expected) => {
    expect(mayAct(jwt({ sub: 'ann', may_act: permitted }), jwt(actor))).toBe(expected)
  })

  it('is false for tokens that are not JWTs', () => {
    const permitting = jwt({ may_act: { sub: 'agent' } })
    expect(mayAct(permitting, jwt(actor))).toBe(true)
    for (const token of ['', 'opaque', 'a.b', 'a.!.c', `h.${Buffer.from('[]').toString('base64url')}.s`]) {
      expect(mayAct(permitting, token)).toBe(false)
      expect(mayAct(token, jwt(actor))).toBe(false)
    }
  })
})
