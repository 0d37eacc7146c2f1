// The client of the cluster tests. It runs in a pod, so that the tests need no route into the cluster; calls reach it
// through `kubectl exec`, and a load continues while the API server is away.
import { createServer, request as httpRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { callGrpc, type GrpcQuestion, sendHttp, type HttpAnswer, type HttpQuestion } from './questions.ts'
import { Load, type LoadPlan } from './load.ts'
import { talkTcp, type TcpQuestion } from './tcp.ts'

const PORT = 9000
const POLL_MS = 50

/** What an answer must be; everything that is given must hold. */
export interface Expectation {
  readonly status?: number
  readonly error?: boolean
  readonly includes?: readonly string[]
  readonly header?: readonly [name: string, value: string]
  readonly certificate?: string
}

export type Call =
  | { readonly op: 'http'; readonly question: HttpQuestion }
  | {
      readonly op: 'until'
      readonly question: HttpQuestion
      readonly expected: Expectation
      /** So many answers in a row must be as expected. */
      readonly times: number
      readonly withinMs: number
    }
  | { readonly op: 'tcp'; readonly question: TcpQuestion }
  | { readonly op: 'grpc'; readonly question: GrpcQuestion }
  | { readonly op: 'start'; readonly plan: LoadPlan }
  | { readonly op: 'stop' }

let load: Load | undefined

export async function serveCalls(): Promise<void> {
  const server = createServer((request, response) => {
    text(request)
      // The tests are the only ones who can reach this port, and they are typed.
      .then(async (body) => answer(JSON.parse(body) as Call))
      .catch((error: unknown) => ({ error: String(error) }))
      .then((result) => response.end(JSON.stringify(result)))
      .catch(() => response.destroy())
  })
  server.listen(PORT, '127.0.0.1')
  process.once('SIGTERM', () => process.exit(0))
}

export async function call(json: string): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const request = httpRequest({ port: PORT, host: '127.0.0.1', method: 'POST' }, (response) => {
    text(response).then(resolve, reject)
  })
  request.on('error', reject)
  request.end(json)
  return JSON.parse(await promise)
}

async function answer(asked: Call): Promise<unknown> {
  switch (asked.op) {
    case 'http':
      return sendHttp(asked.question)
    case 'until':
      return until(asked)
    case 'tcp':
      return talkTcp(asked.question)
    case 'grpc':
      return callGrpc(asked.question)
    case 'start':
      await load?.stop()
      load = new Load(asked.plan)
      return {}
    case 'stop':
      return stopLoad()
    default:
      return asked satisfies never
  }
}

async function stopLoad(): Promise<unknown> {
  const summary = await load?.stop()
  load = undefined
  return summary ?? { error: 'no load runs' }
}

async function until(asked: Extract<Call, { op: 'until' }>): Promise<HttpAnswer & { met: boolean; times: number }> {
  const end = performance.now() + asked.withinMs
  let times = 0
  for (;;) {
    const got = await sendHttp(asked.question)
    times = meets(got, asked.expected) ? times + 1 : 0
    if (times >= asked.times) return { ...got, met: true, times }
    if (performance.now() > end) return { ...got, met: false, times }
    if (times === 0) await delay(POLL_MS)
  }
}

function meets(got: HttpAnswer, { status, error, includes, header, certificate }: Expectation): boolean {
  return (
    (status === undefined || got.status === status) &&
    (error === undefined || (got.error !== undefined) === error) &&
    (includes ?? []).every((part) => got.body?.includes(part) === true) &&
    (header === undefined || got.headers?.[header[0]] === header[1]) &&
    (certificate === undefined || got.certificate === certificate)
  )
}
