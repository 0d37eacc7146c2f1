// MCP backends on this thread, with servers that answer at once; for tests and benchmarks, not used by the proxy.
import type { BackendEnvironment, Endpoint, EndpointPicker } from '../backend/handler.ts'
import type { BackendHandler } from '../chain/handler.ts'
import { HeaderList } from '../message/headers.ts'
import { IncomingBody } from '../message/incoming-body.ts'
import type { OutgoingBody } from '../message/body.ts'
import { expression } from '../policy/exchange.testing.ts'
import type { CallOutcome, UpstreamRequest } from '../upstream/target.ts'
import { compileMcpBackend } from './backend.ts'

/** What a server sends for a message, by its body. */
export type Answering = (request: UpstreamRequest) => {
  readonly type: string
  readonly session?: string
  readonly body: string
  /** The bytes of the body after which the rest arrives later; undefined: it arrives as a whole. */
  readonly cutAt?: number | undefined
}

// Only the called members of the interfaces exist: a test that calls others fails with a TypeError.
const ENDPOINT = {
  target: {},
  authority: 'x',
  label: 'x:1',
  score: 1,
  state: { begin() {}, finished() {}, release() {}, succeeded() {}, failed() {} },
  begin() {},
  end() {},
} as unknown as Endpoint

const PICKER: EndpointPicker = {
  isHostname: false,
  pick: () => ENDPOINT,
  other: () => undefined,
  hasActive: () => true,
  find: () => ENDPOINT,
}

const SOURCE = { pauseBody() {}, resumeBody() {}, cancelBody() {} }

/** A body that has arrived as a whole. */
export function arrived(text: string): IncomingBody {
  const bytes = Buffer.from(text)
  const body = new IncomingBody(SOURCE, bytes.length)
  body.push(bytes, 0, bytes.length)
  body.end()
  return body
}

/** A body of which the bytes from `cutAt` on arrive in the next turn of the event loop. */
function arriving(text: string, cutAt: number): IncomingBody {
  const bytes = Buffer.from(text)
  const body = new IncomingBody(SOURCE, undefined)
  body.push(bytes, 0, cutAt)
  body.settle()
  setImmediate(() => {
    body.push(bytes, cutAt, bytes.length)
    body.settle()
    body.end()
  })
  return body
}

export function mcpBackend(names: readonly string[], answering: Answering): BackendHandler {
  const client = {
    call(_: unknown, request: UpstreamRequest, __: unknown, outcome: CallOutcome): void {
      const { type, session, body: text, cutAt } = answering(request)
      const headers = HeaderList.of([['content-type', type]])
      if (session !== undefined) headers.append('mcp-session-id', session)
      queueMicrotask(() => {
        const body = cutAt === undefined ? arrived(text) : arriving(text, cutAt)
        outcome.answered({ status: 200, headers, body })
      })
    },
  }
  const environment = {
    client,
    resolve: () => PICKER,
    policiesOf: () => ({}),
    sectionPolicies: () => ({ mcpAuthorization: [] }),
    health: () => undefined,
    filters: () => ({ request: [], response: [] }),
    expression,
    bufferBytesMax: 2 ** 21,
    textReads: { request: false, response: false },
    sessionKeys: [new Uint8Array(32)],
    mcpSessionTtlMs: 60_000,
  } as unknown as BackendEnvironment
  const targets = names.map((name) => ({ name, ref: { backend: `ns/${name}` as const } }))
  return compileMcpBackend(
    { targets, sessionRouting: 'Stateful', prefixMode: 'Conditional', failureMode: 'FailClosed' },
    { mcpAuthorization: [] },
    environment,
  )
}

/** The text of a body as the client gets it. */
export async function textOf(body: OutgoingBody): Promise<string> {
  if (body === undefined || typeof body === 'string') return body ?? ''
  if (Buffer.isBuffer(body)) return body.toString('utf8')
  let text = ''
  for await (const chunk of body) text += chunk.toString('utf8')
  return text
}
