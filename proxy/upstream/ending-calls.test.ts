import { expect, it } from 'vitest'
import { HeaderList } from '../message/headers.ts'
import { IncomingBody } from '../message/incoming-body.ts'
import { SendCall } from './call.ts'
import { callsEndingWith } from './ending-calls.ts'
import { UpstreamError, type UpstreamRequest, type UpstreamTarget } from './target.ts'

const REQUEST: UpstreamRequest = {
  method: 'POST',
  pathAndQuery: '/',
  authority: 'a',
  headers: new HeaderList(),
  body: undefined,
}
const TARGET: UpstreamTarget = {
  key: 'a',
  host: 'a',
  port: 1,
  unixPath: undefined,
  tls: undefined,
  connectTimeoutMs: 1000,
}
const HEAD = { status: 200, framing: 'Length', isKeepAlive: true, upgrade: undefined } as const

it('ends the calls of a signal that wait for their answer or its rest, and no others', () => {
  const over = new AbortController()
  const running = callsEndingWith(over.signal)
  const ends: string[] = []
  const begin = (name: string): SendCall =>
    new SendCall(
      TARGET,
      REQUEST,
      { answered() {}, failed: (error) => void ends.push(`${name}: ${error instanceof UpstreamError}`) },
      callsEndingWith(over.signal),
    )
  const bodyOf = (call: SendCall): IncomingBody => {
    const body = new IncomingBody({ pauseBody() {}, resumeBody() {}, cancelBody() {} }, 2)
    call.responded({ ...HEAD, contentLength: 2, headers: new HeaderList() }, body)
    return body
  }
  begin('waits')
  const [whole, partial] = [bodyOf(begin('whole')), bodyOf(begin('partial'))]
  expect(running.size).toBe(3)
  whole.push(Buffer.from('{}'), 0, 2)
  whole.end()
  expect(running.size).toBe(2)
  over.abort()
  expect([ends, whole.isEnded, partial.isFailed, running.size]).toEqual([['waits: true'], true, true, 0])
})
