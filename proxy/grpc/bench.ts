// What one ext_authz call costs: our client against @grpc/grpc-js, both to the same server in another thread, on
// loopback. Run: node proxy/grpc/bench.ts [calls]
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { credentials, makeGenericClientConstructor } from '@grpc/grpc-js'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import {
  Authorization,
  CheckRequestSchema,
  CheckResponseSchema,
  type CheckRequest,
  type CheckResponse,
} from '../envoy/gen/envoy/service/auth/v3/external_auth.gen.ts'
import { createGrpcClient } from './client.ts'
import { grpcServer, plainTarget, unaryMethod } from './server.testing.ts'

const CALLS = Number(process.argv[2] ?? 20_000)
const CONCURRENCY = [1, 32]
const ROUNDS = 5
const { check } = Authorization.method

if (isMainThread) await measure()
else await serve()

async function serve(): Promise<void> {
  const answer = create(CheckResponseSchema, { status: { code: 0 } })
  const server = await grpcServer([unaryMethod(check, (_, reply) => reply(null, answer))])
  parentPort?.postMessage(server.port)
}

async function measure(): Promise<void> {
  const worker = new Worker(new URL(import.meta.url))
  const port = await new Promise<number>((resolve) => worker.once('message', resolve))
  const request = create(CheckRequestSchema, {
    attributes: {
      request: {
        http: {
          id: '0123456789abcdef0123456789abcdef',
          method: 'GET',
          path: '/api/v1/items?page=2',
          host: 'shop.example.com',
          scheme: 'http',
          protocol: 'HTTP/1.1',
          headers: Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`x-header-${i}`, `value of header ${i}`])),
        },
      },
    },
  })
  encodingCost(request)
  const ours = createGrpcClient()
  const target = plainTarget(port)
  const theirs = grpcJsClient(port)
  const callOurs = (): Promise<CheckResponse> =>
    ours.unary(target, check, request, {
      authority: 'authz',
      deadlineMs: performance.now() + 2000,
      signal: undefined,
    })
  for (const concurrency of CONCURRENCY) {
    const results: { ours: number; theirs: number; oursCpu: number; theirsCpu: number }[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const a = await run(callOurs, concurrency)
      const b = await run(() => theirs.call(request), concurrency)
      results.push({ ours: a.us, theirs: b.us, oursCpu: a.cpuUs, theirsCpu: b.cpuUs })
    }
    const best = (key: keyof (typeof results)[number]): string => Math.min(...results.map((r) => r[key])).toFixed(1)
    console.log(
      `${concurrency} at once: ours ${best('ours')} µs a call (CPU of this thread ${best('oursCpu')}), ` +
        `@grpc/grpc-js ${best('theirs')} µs (CPU ${best('theirsCpu')})`,
    )
  }
  ours.close()
  theirs.close()
  await worker.terminate()
}

function encodingCost(request: CheckRequest): void {
  const bytes = toBinary(CheckRequestSchema, request)
  for (const [name, work] of [
    ['encode', () => toBinary(CheckRequestSchema, request)],
    ['decode', () => fromBinary(CheckRequestSchema, bytes)],
  ] as const) {
    for (let i = 0; i < 5000; i++) work()
    const start = performance.now()
    for (let i = 0; i < 20_000; i++) work()
    console.log(`${name} CheckRequest of ${bytes.length} bytes: ${((performance.now() - start) / 20).toFixed(1)} µs`)
  }
}

/** Event loop time counts as CPU only while it is active. */
async function run(call: () => Promise<unknown>, concurrency: number): Promise<{ us: number; cpuUs: number }> {
  let left = CALLS
  const worker = async (): Promise<void> => {
    while (left-- > 0) await call()
  }
  const start = performance.now()
  const before = performance.eventLoopUtilization()
  await Promise.all(Array.from({ length: concurrency }, worker))
  const { active } = performance.eventLoopUtilization(before)
  return { us: ((performance.now() - start) * 1000) / CALLS, cpuUs: (active * 1000) / CALLS }
}

function grpcJsClient(port: number): { call(request: CheckRequest): Promise<unknown>; close(): void } {
  const Client = makeGenericClientConstructor({}, 'Authorization')
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure())
  const path = `/${check.parent.typeName}/${check.name}`
  const serialize = (message: CheckRequest): Buffer => Buffer.from(toBinary(CheckRequestSchema, message))
  const deserialize = (bytes: Buffer): unknown => fromBinary(CheckResponseSchema, bytes)
  return {
    call: (request) =>
      new Promise((resolve, reject) => {
        const options = { deadline: Date.now() + 2000 }
        client.makeUnaryRequest(path, serialize, deserialize, request, options, (error, answer) => {
          if (error === null) resolve(answer)
          else reject(error)
        })
      }),
    close: () => client.close(),
  }
}
