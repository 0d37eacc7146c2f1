import { request } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import type { TrafficBuffer } from '#api/ir/types.gen.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import {
  scriptedUpstream,
  status,
  type Script,
  type ScriptedUpstream,
} from '../../backend/scripted-upstream.testing.ts'
import { HttpResponse } from '../../message/message.ts'
import { compileBuffer } from './buffer.ts'
import { exchangeOf, runRequest, runResponse, upstreamResponse } from '../exchange.testing.ts'
import { firstOf } from '#test/run/table.ts'

const stops: (() => Promise<void> | void)[] = []
const CLOSED = { bytesMax: 10, failureMode: 'FailClosed' } as const
const OPEN = { bytesMax: 10, failureMode: 'FailOpen' } as const

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

async function start(
  buffer: TrafficBuffer,
  script: Script,
): Promise<{ gateway: TestProxy; upstream: ScriptedUpstream }> {
  const upstream = await scriptedUpstream(script)
  const backend = { static: { host: '127.0.0.1', port: upstream.port } }
  const gateway = await testProxy({ routes: [{ name: 'r', prefix: '/', backend, inline: { buffer } }] })
  stops.push(
    () => gateway.stop(),
    () => upstream.stop(),
  )
  return { gateway, upstream }
}

/** Sends in parts, without a content-length. */
async function post(url: string, text: string, isChunked: boolean): Promise<Response> {
  if (!isChunked) return fetch(url, { method: 'POST', body: text })
  const body = ReadableStream.from(text.split('').map((letter) => Buffer.from(letter)))
  return fetch(url, { method: 'POST', body, duplex: 'half' })
}

describe('bodies in memory', () => {
  it.each([
    [CLOSED, 10, undefined],
    [CLOSED, 11, 413],
    [OPEN, 11, undefined],
  ] as const)('request: %o, %i bytes: %s', (policy, size, expected) => {
    const exchange = exchangeOf({ method: 'POST', body: 'x'.repeat(size) })
    expect(runRequest(compileBuffer({ request: policy }), exchange)?.status).toBe(expected)
    expect(exchange.response?.body ?? '').toBe('')
  })

  it.each([
    [CLOSED, 10, 200],
    [CLOSED, 11, 502],
    [OPEN, 11, 200],
  ] as const)('response: %o, %i bytes: %i', (policy, size, expected) => {
    const exchange = exchangeOf()
    exchange.response = upstreamResponse([], Buffer.alloc(size))
    expect(runResponse(compileBuffer({ response: policy }), exchange)?.status).toBe(expected)
  })

  it('does not change upgrades, 101, and responses of the proxy itself', () => {
    const upgrade = exchangeOf({ method: 'POST', body: 'x'.repeat(99) })
    upgrade.request.upgrade = 'websocket'
    expect(runRequest(compileBuffer({ request: CLOSED }), upgrade)).toBeUndefined()
    const switched = exchangeOf()
    switched.response = upstreamResponse([], Buffer.alloc(99))
    switched.response.status = 101
    expect(runResponse(compileBuffer({ response: CLOSED }), switched)?.status).toBe(101)
    const own = exchangeOf()
    own.response = HttpResponse.local(403, 'x'.repeat(99))
    expect(runResponse(compileBuffer({ response: CLOSED }), own)?.status).toBe(403)
  })
})

describe('on a real proxy', () => {
  const echo: Script = (response, { body }) => {
    response.end(body)
  }

  firstOf(3)<['FailClosed' | 'FailOpen', number, boolean, number]>([
    ['FailClosed', 10, true, 200],
    ['FailClosed', 11, false, 413],
    ['FailOpen', 11, true, 200],
    ['FailClosed', 10, false, 200],
    ['FailClosed', 11, true, 413],
    ['FailOpen', 11, false, 200],
  ])('request, %s, %i bytes, chunked %s: %i', async (failureMode, size, isChunked, expected) => {
    const { gateway, upstream } = await start({ request: { bytesMax: 10, failureMode } }, echo)
    const text = 'abcdefghijk'.slice(0, size)
    const response = await post(gateway.url, text, isChunked)
    expect([response.status, await response.text()]).toEqual([expected, expected === 200 ? text : ''])
    expect(upstream.seen).toHaveLength(expected === 200 ? 1 : 0)
    // A buffered body has a length.
    if (expected === 200 && size <= 10) expect(upstream.seen[0]?.headers['content-length']).toBe(String(size))
  })

  firstOf(2)<['FailClosed' | 'FailOpen', number, number]>([
    ['FailClosed', 11, 502],
    ['FailOpen', 11, 200],
    ['FailClosed', 10, 200],
  ])('response in parts, %s, %i bytes: %i', async (failureMode, size, expected) => {
    const { gateway } = await start({ response: { bytesMax: 10, failureMode } }, (response) => {
      for (let i = 0; i < size; i++) response.write('y')
      response.end()
    })
    const response = await fetch(gateway.url)
    expect([response.status, await response.text()]).toEqual([expected, expected === 200 ? 'y'.repeat(size) : ''])
  })

  it('uses the limit of the listener by default', async () => {
    const { gateway } = await start({ request: { failureMode: 'FailClosed' } }, echo)
    const limit = 2 * 1024 * 1024
    expect((await post(gateway.url, 'z'.repeat(limit), false)).status).toBe(200)
    expect((await fetch(gateway.url, { method: 'POST', body: Buffer.alloc(limit + 1) })).status).toBe(413)
  })

  it('sends nothing to the backend before the body is complete', async () => {
    const { gateway, upstream } = await start({ request: CLOSED }, status(200))
    const call = request(gateway.url, { method: 'POST', headers: { 'content-length': '2' } })
    call.on('error', () => undefined)
    call.write('a')
    // Another request overtakes it.
    expect((await fetch(`${gateway.url}/second`)).status).toBe(200)
    expect(upstream.seen.map(({ url }) => url)).toEqual(['/second'])
    const answered = new Promise((resolve) => call.on('response', resolve))
    call.end('b')
    await answered
    expect(upstream.seen.map(({ url }) => url)).toEqual(['/second', '/'])
    call.destroy()
  })

  it('returns 503 if the backend ends a buffered body early', async () => {
    const { gateway } = await start({ response: CLOSED }, (response) => {
      response.writeHead(200, { 'content-length': '8' })
      response.write('half', () => response.destroy())
    })
    expect((await fetch(gateway.url)).status).toBe(503)
  })
})
