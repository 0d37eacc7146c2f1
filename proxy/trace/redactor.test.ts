import { describe, expect, it } from 'vitest'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import { HeaderList } from '../message/headers.ts'
import { CredentialNames } from '../log/credential-names.ts'
import { Redactor } from './redactor.ts'

const redactor = (): Redactor => new Redactor(new CredentialNames())

describe('Redactor', () => {
  it.each([
    ['authorization', 'Bearer abcdef123', ['abcdef123', 'Bearer abcdef123']],
    ['authorization', `Basic ${Buffer.from('joe:pa:ssword').toString('base64')}`, ['pa:ssword', 'joe:pa:ssword']],
    ['cookie', 'short=1; session=abcdef123', ['abcdef123']],
    ['set-cookie', 'session=abcdef123; Path=/; HttpOnly', ['abcdef123']],
    ['x-api-key', 'abcdef123', ['abcdef123']],
  ])('%s: %s is hidden in its place and remembered', (name, value, secrets) => {
    const redact = redactor()
    expect(redact.headers(HeaderList.of([[name, value]]))).toEqual({ [name]: '<redacted>' })
    for (const secret of secrets) expect(redact.text(`x ${secret} y`)).toBe('x <redacted> y')
    expect(redact.text('Path=/ short=1')).toBe('Path=/ short=1')
  })

  it('leaves short values alone elsewhere', () => {
    const redact = redactor()
    expect(redact.headers(HeaderList.of([['x-api-key', 'abcde']]))).toEqual({ 'x-api-key': '<redacted>' })
    expect(redact.text('abcde')).toBe('abcde')
    redact.headers(HeaderList.of([['x-api-key', 'abcdef']]))
    expect(redact.text('abcdef')).toBe('<redacted>')
  })

  it('hides the longest secret first', () => {
    const redact = redactor()
    redact.headers(HeaderList.of([['x-api-key', 'secret']]))
    redact.headers(HeaderList.of([['x-api-key', 'secret-and-more']]))
    expect(redact.text('secret-and-more')).toBe('<redacted>')
  })

  it('hides values of query parameters, whatever the spelling of their names', () => {
    const redact = redactor()
    expect(redact.query('a=1&%41ccess_token=abcdef%31&token&API_KEY=zzzzzz')).toBe(
      'a=1&%41ccess_token=<redacted>&token&API_KEY=<redacted>',
    )
    expect(redact.text('abcdef1 abcdef%31')).toBe('<redacted> <redacted>')
  })

  it('shows header fields of one name as a list, of any name', () => {
    const shown = redactor().headers(
      HeaderList.of([
        ['accept', 'a'],
        ['accept', 'b'],
        ['accept', 'c'],
        ['__proto__', 'x'],
      ]),
    )
    expect(Object.entries(shown)).toEqual([
      ['accept', ['a', 'b', 'c']],
      ['__proto__', 'x'],
    ])
  })

  it('cleans values of an event but not its own words', () => {
    const redact = redactor()
    redact.headers(HeaderList.of([['x-api-key', 'requestSnapshot']]))
    const event = { message: { type: 'requestSnapshot', requestState: { type: 'requestSnapshot', n: 1n } } }
    expect(JSON.parse(redact.json(event))).toEqual({
      message: { type: 'requestSnapshot', requestState: { type: '<redacted>', n: '1' } },
    })
  })

  it('cleans bytes of any kind without harm', () => {
    const redact = redactor()
    redact.headers(HeaderList.of([['x-api-key', 'pass"word']]))
    const bytes = Buffer.from([0, 255, 128, ...Buffer.from('pass"word pass\\"word')])
    expect(redact.bytes(bytes)).toEqual(Buffer.from([0, 255, 128, ...Buffer.from('<redacted> <redacted>')]))
  })
})

describe('CredentialNames', () => {
  it('come from every place of the configuration', () => {
    const header = (name: string) => ({ location: { header: { name } } })
    const auth = (name: string) => ({
      auth: {
        ...header(name),
        credentials: [{ key: { secret: 's' }, location: { queryParameter: { name: `${name}-q` } } }],
      },
    })
    const names = CredentialNames.of({
      version: 2,
      binds: [],
      listeners: [],
      tcpRoutes: [],
      services: [],
      workloads: [],
      policies: [
        {
          key: 'p',
          name: { kind: 'GwPolicy', namespace: 'ns', name: 'p' },
          target: { gateway: { namespace: 'ns', name: 'gw' } },
          policy: {
            traffic: {
              jwtAuthentication: { mode: 'Strict', providers: [], ...header('X-Jwt') },
              apiKeyAuthentication: { mode: 'Strict', ...header('X-Key') },
              basicAuthentication: { mode: 'Strict', realm: 'r', ...header('X-Basic') },
            },
            backend: auth('X-Policy'),
          },
        },
      ],
      routes: [
        {
          key: 'r',
          listenerKey: 'l',
          name: { kind: 'HTTPRoute', namespace: 'ns', name: 'r' },
          hostnames: [],
          matches: [],
          backends: [{ weight: 1, ref: { backend: 'b' }, inlinePolicies: auth('X-Ref') }],
        },
      ],
      backends: [
        {
          key: 'b',
          name: { namespace: 'ns', name: 'b' },
          inlinePolicies: auth('X-Backend'),
          ai: {
            groups: [{ providers: [{ name: 'p', provider: { openai: {} }, inlinePolicies: auth('X-Provider') }] }],
          },
        },
      ],
      // Only what is read is there: other fields of these kinds do not matter here.
    } as unknown as RenderedConfig)
    for (const name of ['x-jwt', 'x-key', 'x-basic', 'x-policy', 'x-ref', 'x-backend', 'x-provider']) {
      expect([name, names.hasHeader(name)]).toEqual([name, true])
    }
    for (const name of ['x-policy-q', 'X-Ref-Q', 'x-backend-q', 'x-provider-q']) {
      expect([name, names.hasParameter(name)]).toEqual([name, true])
    }
    expect(names.hasHeader('accept')).toBe(false)
    expect(names.hasParameter('page')).toBe(false)
  })
})
