// The metadata of an issuer: where it is, and how long it is used.
import { expect, it } from 'vitest'
import { ServiceError, type ServiceCaller } from '../../../chain/service.ts'
import { HeaderList } from '../../../message/headers.ts'
import { HttpResponse } from '../../../message/message.ts'
import { exchangeOf } from '../../exchange.testing.ts'
import { IssuerClient } from './issuer-client.ts'

const URLS = ['https://idp.example/.well-known/oauth-authorization-server', 'https://idp.example/.well-known/openid']

/** `answers`: status and document by path; none: no connection. */
function issuerWith(answers: Map<string, readonly [number, string]>) {
  const asked: string[] = []
  let nowMs = 0
  const caller: ServiceCaller = {
    http: (_exchange, { path }) => {
      asked.push(path)
      const [status, body] = answers.get(path) ?? []
      if (status === undefined) return Promise.reject(new ServiceError('no connection'))
      return Promise.resolve(new HttpResponse(status, HeaderList.of([]), Buffer.from(body ?? ''), false))
    },
    unary: () => Promise.reject(new Error('not used')),
    answerMs: 1000,
    stream: () => {
      throw new Error('not used')
    },
  }
  const client = new IssuerClient(
    () => caller,
    URLS,
    () => nowMs,
  )
  const ask = async (): Promise<unknown> => client.metadata(exchangeOf())
  return { ask, asked, later: (minutes: number) => (nowMs += minutes * 60_000) }
}

const [FIRST, SECOND] = ['/.well-known/oauth-authorization-server', '/.well-known/openid']

it('is looked for at the second place if the first has none', async () => {
  const { ask, asked } = issuerWith(
    new Map([
      [FIRST, [404, 'not found']],
      [SECOND, [200, '{"issuer":"b"}']],
    ]),
  )
  expect(await ask()).toEqual({ issuer: 'b' })
  expect(asked).toEqual([FIRST, SECOND])
})

it('is not looked for elsewhere if the issuer fails', async () => {
  const { ask, asked } = issuerWith(
    new Map([
      [FIRST, [503, '']],
      [SECOND, [200, '{"issuer":"b"}']],
    ]),
  )
  await expect(ask()).rejects.toThrow('returned status 503')
  expect(asked).toEqual([FIRST])
})

it('is fetched once for requests at the same time, and again after five minutes', async () => {
  const { ask, asked, later } = issuerWith(new Map([[FIRST, [200, '{"issuer":"a"}']]]))
  await Promise.all([ask(), ask()])
  later(4.9)
  await ask()
  expect(asked).toHaveLength(1)
  later(0.1)
  await ask()
  expect(asked).toHaveLength(2)
})

it('stays in use for an hour while the issuer does not answer', async () => {
  const answers = new Map<string, readonly [number, string]>([[FIRST, [200, '{"issuer":"a"}']]])
  const { ask, later } = issuerWith(answers)
  await ask()
  answers.clear()
  later(59)
  expect(await ask()).toEqual({ issuer: 'a' })
  later(1)
  await expect(ask()).rejects.toThrow('no connection')
})
