// Queries as logs and traces show them.
import { describe, expect, it } from 'vitest'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import { CredentialNames, headersOfExpression } from './credential-names.ts'

const names = new CredentialNames()

describe('hideIn', () => {
  it.each([
    ['', ''],
    ['a=1&b=2', 'a=1&b=2'],
    ['access_token=abc', 'access_token=<redacted>'],
    ['sessionId=abc', 'sessionId=<redacted>'],
    ['a=1&ACCESS_TOKEN=abc&b=2', 'a=1&ACCESS_TOKEN=<redacted>&b=2'],
    ['access%5Ftoken=abc', 'access%5Ftoken=<redacted>'],
    ['%zz=abc&a+b=%20', '%zz=abc&a+b=%20'],
    ['my_access_token=abc', 'my_access_token=abc'],
    ['a=access_token=abc', 'a=access_token=abc'],
    ['access_token', 'access_token'],
    ['access_token=', 'access_token=<redacted>'],
    ['token=a=b&key=', 'token=<redacted>&key=<redacted>'],
  ])('%s', (query, shown) => {
    expect(names.hideIn(query)).toBe(shown)
  })

  it('reports the values that it hid', () => {
    const found: string[] = []
    names.hideIn('sig=a%20b&x=1&key=c', (value) => found.push(value))
    expect(found).toEqual(['a%20b', 'c'])
  })
})

it('knows the header fields of an expression', () => {
  expect(headersOfExpression('request.headers["X-A"] + request.headers.x_b + request.path')).toEqual(['x-a', 'x_b'])
})

it('hides the tokens that are exchanged and issued', () => {
  const header = (name: string) => ({ header: { name } })
  const oauthTokenExchange = {
    subjectToken: { source: header('X-Subject') },
    actorToken: { source: { queryParameter: { name: 'actor' } } },
    location: header('X-Issued'),
  }
  const auth = [{ oauthTokenExchange }, { crossAppAccess: { subjectToken: { source: header('X-Id') } } }]
  const found = CredentialNames.of({
    policies: auth.map((one) => ({ policy: { backend: { auth: one } } })),
    routes: [],
    backends: [],
    // Only what is read is there.
  } as unknown as RenderedConfig)
  expect(['x-subject', 'x-issued', 'x-id', 'x-other'].map((name) => found.hasHeader(name))).toEqual([
    true,
    true,
    true,
    false,
  ])
  expect(found.hideIn('actor=planted&a=1')).toBe('actor=<redacted>&a=1')
})

it('knows the code of users who return to the gateway', () => {
  const policyOf = (mcp: object | undefined) => ({ policy: { traffic: { jwtAuthentication: { mcp } } } })
  const namesOf = (mcp: object | undefined): CredentialNames =>
    // Only what is read is there.
    CredentialNames.of({ policies: [policyOf(mcp)], routes: [], backends: [] } as unknown as RenderedConfig)
  expect(namesOf({}).hideIn('code=planted&state=s')).toBe('code=<redacted>&state=s')
  expect(namesOf(undefined).hideIn('code=a')).toBe('code=a')
})
