import { afterEach, describe, expect, it } from 'vitest'
import { HeaderList } from '../message/headers.ts'
import { exchangeOf } from '../policy/exchange.testing.ts'
import { testService, type TestService } from '../policy/external/service.testing.ts'
import { inTurn, type Script, type ScriptedUpstream, scriptedUpstream, status } from './scripted-upstream.testing.ts'

describe('a call of a service that refuses a fetched credential', () => {
  let upstream: ScriptedUpstream | undefined
  let service: TestService | undefined

  afterEach(() => {
    upstream?.stop()
    service?.close()
  })

  async function called(script: Script): Promise<{ status: number; seen: (string | string[] | undefined)[][] }> {
    upstream = await scriptedUpstream(script)
    let fetched = 0
    service = testService(upstream.port, {
      filters: [
        {
          name: 'auth',
          filter: (exchange) => {
            fetched++
            exchange.request.headers.set('authorization', `Bearer ${fetched}`)
            exchange.request.headers.append('x-added', 'one')
            exchange.credential = { renew: (answer) => answer.status === 401 }
            return undefined
          },
        },
      ],
    })
    const message = { method: 'POST', authority: undefined, path: '/', query: '', answerBytesMax: 100 }
    const headers = HeaderList.of([['x-own', 'y']])
    const answer = await service.caller.http(exchangeOf(), { ...message, headers, body: Buffer.from('body') })
    const seen = upstream.seen.map((one) => [one.headers.authorization, one.headers['x-added'], one.body])
    return { status: answer.status, seen }
  }

  it('is made again once with another credential', async () => {
    expect(await called(inTurn(status(401), status(200)))).toEqual({
      status: 200,
      seen: [
        ['Bearer 1', 'one', 'body'],
        ['Bearer 2', 'one', 'body'],
      ],
    })
  })

  it('ends with the second refusal', async () => {
    const { status: code, seen } = await called(status(401))
    expect([code, seen.length]).toEqual([401, 2])
  })
})
