// Second MCP server of the samples, with the official SDK: one tool of its own and one with the name of a tool of the
// first server. It has no sessions, so tests use both kinds of server. It answers at only two paths, and at
// those of the SSE transport.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { z } from 'zod'

/** The usual path, and another one. */
const PATHS: ReadonlySet<string | undefined> = new Set(['/mcp', '/words/mcp'])

export function wordsServer(): Server {
  const streams = new Map<string, SSEServerTransport>()
  return createServer((request, response) => {
    const posted = streams.get(/^\/messages\?sessionId=(.*)$/.exec(request.url ?? '')?.[1] ?? '')
    if (!PATHS.has(request.url) && request.url !== '/sse' && posted === undefined) {
      response.writeHead(404).end('no MCP server is here')
      return
    }
    const done = posted?.handlePostMessage(request, response)
    const served = done ?? (request.url === '/sse' ? serveStream(streams, response) : serve(request, response))
    served.catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500)
      response.end(String(error))
    })
  })
}

async function serveStream(streams: Map<string, SSEServerTransport>, response: ServerResponse): Promise<void> {
  const transport = new SSEServerTransport('/messages', response)
  streams.set(transport.sessionId, transport)
  response.on('close', () => streams.delete(transport.sessionId))
  await words().connect(transport)
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const server = words()
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  await transport.handleRequest(request, response)
  response.on('close', () => void server.close())
}

function words(): McpServer {
  const server = new McpServer({ name: 'words', version: '1.0.0' })
  const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })
  const inputSchema = { text: z.string() }
  server.registerTool(
    'reverse',
    { description: 'Turns the order of the words around.', inputSchema },
    ({ text: value }) => text(value.split(' ').reverse().join(' ')),
  )
  server.registerTool('echo', { description: 'Gives back its text twice.', inputSchema }, ({ text: value }) =>
    text(`${value} ${value}`),
  )
  return server
}
