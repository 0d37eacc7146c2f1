// An emulated provider with a gateway before it: records requests, and answers as a test sets.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import type { AIProvider, BackendPayload } from '#api/ir/types.gen.ts'
import { closeServer, listening } from '#test/ports.ts'
import { type JsonObject, parseObject } from './json.ts'

export interface Asked {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** Of the body. */
  readonly text: string
  /** Empty: not a JSON object. */
  readonly body: JsonObject
}

export type Answer = (asked: Asked, response: ServerResponse) => void

export interface Emulator {
  readonly port: number
  readonly url: string
  /** In the order of arrival. */
  readonly asked: Asked[]
  /** Of each request from now on. */
  answer: Answer
  stop(): void
}

export async function startEmulator(): Promise<Emulator> {
  const asked: Asked[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { url: path = '', headers } = request
      const text = Buffer.concat(chunks).toString('utf8')
      const one = { path, headers, text, body: parseObject(text) ?? {} }
      asked.push(one)
      emulator.answer(one, response)
    })
  })
  const port = await listening(server)
  const emulator: Emulator = {
    port,
    url: `http://127.0.0.1:${port}`,
    asked,
    answer: (_, response) => sendJson(response, {}),
    stop: () => closeServer(server),
  }
  return emulator
}

export interface EmulatedRoute {
  readonly prefix: string
  readonly provider: AIProvider['provider']
  readonly policies?: BackendPayload
  /** undefined: none, so that the paths are those of the provider. */
  readonly more?: Partial<AIProvider>
}

/** A gateway with a route for each provider, whose address is the emulator. */
export function gatewayTo(
  emulator: Emulator,
  routes: readonly EmulatedRoute[],
  secrets: Readonly<Record<string, string>> = {},
): Promise<TestProxy> {
  return testProxy({
    secrets,
    routes: routes.map(({ prefix, provider, policies, more }) => ({
      name: `route-${prefix}`,
      prefix,
      backend: {
        ai: {
          groups: [
            {
              providers: [
                {
                  name: 'p',
                  provider,
                  hostOverride: { host: '127.0.0.1', port: emulator.port },
                  // With a prefix, the path of the client is not kept.
                  pathPrefix: '/',
                  ...more,
                },
              ],
            },
          ],
        },
        ...(policies !== undefined && { inlinePolicies: policies }),
      },
    })),
  })
}

export function sendJson(response: ServerResponse, json: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(json))
}

export function sendEvents(response: ServerResponse, events: readonly string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(events.join(''))
}
