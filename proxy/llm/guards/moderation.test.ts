// The guard `moderationApi`, with a moderation service that the SDK of OpenAI calls as well.
import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { ServiceError } from '../../chain/service.ts'
import { authFilters } from './auth.testing.ts'
import { moderation } from './moderation.ts'
import {
  guardTestService,
  moderationReply,
  textsOf,
  type GuardTestService,
  type ServiceReply,
} from './services.testing.ts'

const KEY = { key: { secret: 'ns/moderation' } }

let open: GuardTestService | undefined
afterEach(() => open?.close())

async function guardAgainst(reply: Parameters<typeof guardTestService>[0], model?: string) {
  open = await guardTestService(reply, { filters: authFilters(KEY, { 'ns/moderation': 'sk-moderation' }) })
  return moderation({ ...(model !== undefined && { model }), policies: { auth: KEY } }, open.environment)
}

describe('moderationApi', () => {
  it('passes texts that are not flagged', async () => {
    const guard = await guardAgainst(moderationReply)
    expect(await guard.check(textsOf([['system', 'Be brief.'], 'hi', ' ']))).toEqual({ kind: 'pass' })
    expect(open?.received).toMatchObject([
      {
        method: 'POST',
        target: '/v1/moderations',
        json: { input: ['Be brief.', 'hi'], model: 'omni-moderation-latest' },
      },
    ])
  })

  it('rejects if one of the texts is flagged, and names the categories', async () => {
    const guard = await guardAgainst(moderationReply, 'text-moderation-stable')
    expect(await guard.check(textsOf(['hi', ['tool', 'violence']]))).toEqual({ kind: 'reject', matched: ['violence'] })
    expect(open?.received[0]?.json).toMatchObject({ model: 'text-moderation-stable' })
  })

  it('makes no call without a text', async () => {
    const guard = await guardAgainst(moderationReply)
    expect(await guard.check(textsOf(['', '\n']))).toEqual({ kind: 'pass' })
    expect(open?.received).toEqual([])
  })

  const result = { flagged: false, categories: {} }
  it.each<[name: string, reply: ServiceReply, message: string]>([
    ['an error', { status: 500, body: { error: {} } }, 'the service answered with status 500'],
    ['a rejected key', { status: 401, body: { error: { message: 'hi' } } }, 'the service answered with status 401'],
    ['invalid JSON', { body: 'hi' }, 'the answer is not a JSON object (status 200)'],
    ['no results', { body: {} }, 'the answer does not have a result for each text'],
    ['a missing result', { body: { results: [result] } }, 'the answer does not have a result for each text'],
    [
      'a result without a verdict',
      { body: { results: [result, {}] } },
      'the answer does not have a result for each text',
    ],
  ])('fails on %s', async (_, reply, message) => {
    const guard = await guardAgainst(() => reply)
    await expect(guard.check(textsOf(['hi', 'planted']))).rejects.toThrow(new ServiceError(message))
  })

  it('calls the service of the vendor with its credential', async () => {
    await guardAgainst(moderationReply)
    expect(open?.vendors).toEqual([{ host: 'api.openai.com', policies: { auth: KEY } }])
  })

  it('fails if its service does not exist', async () => {
    const guard = moderation({}, { vendor: () => undefined })
    await expect(guard.check(textsOf(['hi']))).rejects.toThrow('the service of the guard does not exist')
  })

  it('is asked as the SDK of the vendor asks', async () => {
    const guard = await guardAgainst(moderationReply)
    await guard.check(textsOf(['hi', 'there']))
    const baseURL = `http://127.0.0.1:${open?.port}/v1`
    const vendor = new OpenAI({ apiKey: 'sk-moderation', baseURL, maxRetries: 0 })
    const verdict = await vendor.moderations.create({ input: ['hi', 'violence'], model: 'omni-moderation-latest' })
    expect(verdict.results.map(({ flagged, categories }) => [flagged, categories.violence])).toEqual([
      [false, false],
      [true, true],
    ])
    const [own, sdk] = (open?.received ?? []).map(({ method, target, json, headers }) => {
      const { authorization, accept, 'content-type': type } = headers
      return { method, target, members: Object.keys(json), authorization, accept, type }
    })
    expect(own).toEqual(sdk)
  })
})
