// The stream of a client, while workers open the session at its server again.
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { until } from '#test/wait.ts'
import { exchangeOf } from '../../policy/exchange.testing.ts'
import { madeStream } from '../../message/made-stream.ts'
import type { JsonRpcMessage } from '../jsonrpc.ts'
import type { EventStream, McpTarget, ServerEvent, TargetSession } from '../targets/target.ts'
import { healing } from './healing.ts'
import { LiveSessions } from './live-sessions.ts'
import { sessionAt } from './reopened.testing.ts'

/** One message whose method is the session, then silence until the stream is cancelled. */
function streamOf({ serverSession = '' }: TargetSession): EventStream {
  const over = Promise.withResolvers<void>()
  const events = async function* (): AsyncGenerator<ServerEvent> {
    yield { message: { jsonrpc: '2.0', method: serverSession } }
    await over.promise
  }
  return madeStream(events(), () => over.resolve())
}

it('is opened in the session that another worker opened, when all workers use that', async () => {
  const listened: (string | undefined)[] = []
  const ended: (string | undefined)[] = []
  const server: McpTarget = {
    name: 'a',
    send: () => Promise.reject(new Error('not called')),
    listen(_, session) {
      listened.push(session.serverSession)
      return Promise.resolve(streamOf(session))
    },
    async end(_, { serverSession }) {
      ended.push(serverSession)
    },
  }
  const exchange = exchangeOf({})
  const id = randomUUID()
  const client = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} }
  const { target } = healing({ id, client, onReopened() {} }, { target: server, session: sessionAt('sealed') })
  const events = await target.listen(exchange, sessionAt('sealed'))
  const messages: (JsonRpcMessage | undefined)[] = []
  const reading = (async () => {
    for await (const { message } of events ?? []) messages.push(message)
  })()
  await until('the first stream is open', () => messages.length === 1)

  const other = new LiveSessions()
  await other.reopen(id, 'a', {
    gone: undefined,
    open: () => Promise.resolve({ session: sessionAt('new'), lists: ['tools'] }),
  })
  await until('the second stream is open', () => messages.length === 3)
  expect(listened).toEqual(['sealed', 'new'])
  expect(messages.map((message) => message && 'method' in message && message.method)).toEqual([
    'sealed',
    'notifications/tools/list_changed',
    'new',
  ])

  events?.cancel()
  await reading
  await target.end(exchange, sessionAt('sealed'))
  expect(ended).toEqual(['sealed', 'new'])
})
