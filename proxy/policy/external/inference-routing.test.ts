// Inference routing through a whole proxy: the selected endpoint, and the behavior without a picker.
// @module-tag full
import { afterAll, describe, expect, it } from 'vitest'
import { until } from '../../http/server.testing.ts'
import { send, type Got } from '#proxy/policy/external/ext-proc/proxy.testing.ts'
import {
  DESTINATION,
  naming,
  startPool,
  type Pool,
  type PoolOptions,
} from '#proxy/policy/external/inference.testing.ts'
import { bodyOf, headers, immediate, partsOf, passing, type Script } from './ext-proc/processor.testing.ts'

/** By their options: a start takes longer than most tests. */
const pools = new Map<string, Promise<Pool>>()

afterAll(async () => {
  for (const pool of pools.values()) await (await pool).stop()
})

async function start(options: PoolOptions = {}): Promise<Pool> {
  const key = JSON.stringify(options)
  const starting = pools.get(key) ?? startPool(options)
  pools.set(key, starting)
  const pool = await starting
  pool.picker.reset(passing)
  return pool
}

const ask = (pool: Pool, more: object = {}): Promise<Got> =>
  send(`${pool.proxy.url}/v1/chat/completions`, { method: 'POST', body: '{"model":"m"}', ...more })

/** Index of the server that answered. */
function serverOf({ body }: Got): number {
  return (JSON.parse(body) as { server: number }).server // what the servers of startPool write
}

/** Reads everything and never responds. */
const silent: Script = () => undefined

describe('inferenceRouting', () => {
  it('uses the endpoint of the picker, whatever clients send', async () => {
    const pool = await start()
    for (const [index, endpoint] of pool.endpoints.entries()) {
      pool.picker.reset(naming(endpoint))
      const got = await ask(pool, { headers: { [DESTINATION]: pool.endpoints[(index + 1) % 3] ?? '' } })
      expect(got.status).toBe(200)
      expect(serverOf(got)).toBe(index)
    }
  })

  it('reads the endpoint from metadata as well', async () => {
    const pool = await start()
    const dynamicMetadata = { 'envoy.lb': { [DESTINATION]: pool.endpoints[2] ?? '' } }
    pool.picker.script = (request, talk) => {
      if (request.request.case === 'requestHeaders')
        talk.reply(headers('requestHeaders', {}, { reply: { dynamicMetadata } }))
      else passing(request, talk)
    }
    expect(serverOf(await ask(pool))).toBe(2)
  })

  it('sends request, response and the endpoint that answered to the picker', async () => {
    const pool = await start()
    const endpoint = pool.endpoints[1] ?? ''
    pool.picker.script = naming(endpoint)
    const got = await ask(pool)
    expect(got.status).toBe(200)
    await until(() => pool.picker.open === 0)
    const { seen } = pool.picker
    expect(partsOf(seen)).toEqual(['requestHeaders', 'requestBody+', 'responseHeaders', 'responseBody+'])
    expect(bodyOf(seen, 'requestBody')).toBe('{"model":"m"}')
    expect(bodyOf(seen, 'responseBody')).toBe(got.body)
    const served = { 'envoy.lb': { 'x-gateway-destination-endpoint-served': endpoint } }
    expect(seen.map(({ metadataContext }) => metadataContext?.filterMetadata)).toEqual([
      undefined,
      undefined,
      served,
      served,
    ])
  })

  it.each(['FailClosed', 'FailOpen'] as const)(
    '%s: takes the first of a list that the pool has',
    async (failureMode) => {
      const pool = await start({ failureMode })
      pool.picker.script = naming(`10.1.2.3:80, ${pool.endpoints[2]},${pool.endpoints[0]}`)
      expect(serverOf(await ask(pool))).toBe(2)
    },
  )

  it('uses the next endpoint of the list in a retry', async () => {
    const pool = await start({ retry: { attempts: 3, codes: [503] } })
    const tried: number[] = []
    pool.answer = (index, _request, _body, response) => {
      tried.push(index)
      response.statusCode = tried.length < 3 ? 503 : 200
      response.end(JSON.stringify({ server: index }))
    }
    pool.picker.script = naming([pool.endpoints[2], pool.endpoints[0], pool.endpoints[1]].join(','))
    expect((await ask(pool)).status).toBe(200)
    expect(tried).toEqual([2, 0, 1])
    await until(() => pool.picker.open === 0)
  })

  it('sends an immediate response of the picker to the client', async () => {
    const pool = await start({ failureMode: 'FailOpen' })
    pool.picker.script = (_request, talk) => talk.reply(immediate({ status: { code: 429 }, body: Buffer.from('shed') }))
    expect(await ask(pool)).toMatchObject({ status: 429, body: 'shed' })
  })

  it.each(['10.1.2.3:80', '169.254.169.254:80', 'nonsense', ''])(
    'an endpoint outside of the pool is ignored: %j',
    async (destination) => {
      const closed = await start()
      closed.picker.script = naming(destination)
      expect((await ask(closed)).status).toBe(503)
      const open = await start({ failureMode: 'FailOpen' })
      open.picker.script = naming(destination)
      expect((await ask(open)).status).toBe(200)
    },
  )

  it('FailClosed: a missing, stopped or silent picker fails the request', { tags: ['full'] }, async () => {
    expect((await ask(await start({ isPickerMissing: true }))).status).toBe(500)
    const quiet = await start()
    quiet.picker.script = silent
    expect((await ask(quiet)).status).toBe(500)
    const gone = await start({ retry: { attempts: 1, codes: [] } })
    gone.picker.stop()
    expect((await ask(gone)).status).toBe(500)
  })

  it('FailOpen: the request is forwarded unchanged, also if the picker has read all of it', async () => {
    const pool = await start({ failureMode: 'FailOpen' })
    const answers = new Set<number>()
    pool.picker.script = silent
    for (let index = 0; index < 3; index++) {
      const got = await ask(pool)
      expect(got.status).toBe(200)
      expect(JSON.parse(got.body)).toMatchObject({ body: '{"model":"m"}' })
      answers.add(serverOf(got))
    }
    expect(bodyOf(pool.picker.seen, 'requestBody')).toContain('{"model":"m"}')
    // Responds to the headers, then breaks during the body.
    pool.picker.script = (request, talk) => {
      if (request.request.case === 'requestHeaders') talk.reply(headers('requestHeaders', { 'x-half': 'yes' }))
      else talk.call.destroy()
    }
    const half = JSON.parse((await ask(pool)).body) as { body: string; headers: Record<string, string> } // as above
    expect(half.body).toBe('{"model":"m"}')
    expect(half.headers['x-half']).toBeUndefined()
    expect((await ask(await start({ failureMode: 'FailOpen', isPickerMissing: true }))).status).toBe(200)
  })

  it('a picker that fails after its selection does not affect the response', async () => {
    const pool = await start()
    const choose = naming(pool.endpoints[1] ?? '')
    pool.picker.script = (request, talk) => {
      if (request.request.case === 'responseHeaders') talk.call.destroy()
      else choose(request, talk)
    }
    const got = await ask(pool)
    expect(got).toMatchObject({ status: 200, isComplete: true })
    expect(serverOf(got)).toBe(1)
    // An immediate response during the response is ignored.
    pool.picker.script = (request, talk) => {
      if (request.request.case === 'responseHeaders') talk.reply(immediate({ status: { code: 500 } }))
      else choose(request, talk)
    }
    expect(await ask(pool)).toMatchObject({ status: 200, isComplete: true })
    await until(() => pool.picker.open === 0)
  })

  it('forwards the body of the picker', async () => {
    const pool = await start({ failureMode: 'FailOpen' })
    pool.picker.script = (request, talk) => {
      const { request: part } = request
      if (part.case === 'requestHeaders')
        talk.reply(headers('requestHeaders', { [DESTINATION]: pool.endpoints[0] ?? '' }))
      else if (part.case === 'requestBody') {
        const body = Buffer.from(Buffer.from(part.value.body).toString('utf8').replace('"m"', '"m-lora"'))
        const value = { body: new Uint8Array(body), endOfStream: part.value.endOfStream }
        const bodyMutation = { mutation: { case: 'streamedResponse', value } } as const
        talk.reply({ response: { case: 'requestBody', value: { response: { bodyMutation } } } })
      } else passing(request, talk)
    }
    expect(JSON.parse((await ask(pool)).body)).toMatchObject({ server: 0, body: '{"model":"m-lora"}' })
  })
})
