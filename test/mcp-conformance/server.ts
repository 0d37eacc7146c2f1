// An MCP server on loopback that has what the conformance suite expects.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import { closeServer, listening } from '#test/ports.ts'
import { type Feature, text, type ToolContext } from './features.ts'
import { type Handle, legacyHandler } from './legacy.ts'
import { modernHandler } from './modern.ts'

const BODY_BYTES_MAX = 1024 * 1024

export type Era = 'legacy' | 'modern'

export interface ConformanceServer {
  readonly port: number
  readonly close: () => void
}

/** The second server of a gateway: nothing that the suite asks for. */
const OTHER: Readonly<Record<string, Feature<ToolContext>>> = {
  other_tool: { description: 'of the second server', call: () => text('other') },
}

export async function startServer(era: Era, has: 'everything' | 'one other tool'): Promise<ConformanceServer> {
  const tools = has === 'everything' ? undefined : OTHER
  const handle = era === 'legacy' ? legacyHandler(tools) : modernHandler(tools)
  const server = createServer((request, response) => {
    serve(handle, request, response).catch((error: unknown) => {
      process.stderr.write(`conformance server: ${String(error)}\n`)
      response.destroy()
    })
  })
  return { port: await listening(server), close: () => closeServer(server) }
}

async function serve(handle: Handle, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) return void response.writeHead(413).end()
    chunks.push(chunk)
  }
  const { headers } = request
  const seen = new Request('http://localhost', { headers: { host: headers.host ?? '', origin: headers.origin ?? '' } })
  const refused =
    hostHeaderValidationResponse(seen, localhostAllowedHostnames()) ??
    (headers.origin === undefined ? undefined : originValidationResponse(seen, localhostAllowedOrigins()))
  if (refused !== undefined) return void response.writeHead(refused.status).end(await refused.text())
  const body = Buffer.concat(chunks).toString()
  await handle(request, response, body === '' ? undefined : JSON.parse(body))
}
