// Second MCP server of the samples, with the official SDK: one tool of its own and one with the name of a tool of the
// first server. It has no sessions, so tests use both kinds of server. It answers at only two paths.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { z } from 'zod'

/** The usual path, and another one. */
const PATHS: ReadonlySet<string | undefined> = new Set(['/mcp', '/words/mcp'])

export function wordsServer(): Server {
  return createServer((request, response) => {
    if (!PATHS.has(request.url)) {
      response.writeHead(404).end('no MCP server is here')
      return
    }
    serve(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500)
      response.end(String(error))
    })
  })
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
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
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  await transport.handleRequest(request, response)
  response.on('close', () => void server.close())
}
