// MCP server of the quickstart: three tools, built on the official SDK, over Streamable HTTP with sessions.
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { z } from 'zod'

export function mcpServer(): Server {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  return createServer((request, response) => {
    serve(sessions, request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500)
      response.end(String(error))
    })
  })
}

async function serve(
  sessions: Map<string, StreamableHTTPServerTransport>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const id = String(request.headers['mcp-session-id'] ?? '')
  const known = sessions.get(id)
  if (known !== undefined) {
    await known.handleRequest(request, response)
    return
  }
  if (id !== '') {
    response.writeHead(404).end('unknown session')
    return
  }
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (session) => {
      sessions.set(session, transport)
    },
    onsessionclosed: (session) => {
      sessions.delete(session)
    },
  })
  await tools().connect(transport)
  await transport.handleRequest(request, response)
}

function tools(): McpServer {
  const server = new McpServer({ name: 'quickstart', version: '1.0.0' })
  const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })
  server.registerTool(
    'echo',
    { description: 'Gives back its text.', inputSchema: { text: z.string() } },
    ({ text: value }) => text(value),
  )
  server.registerTool(
    'add',
    { description: 'Adds two numbers.', inputSchema: { a: z.number(), b: z.number() } },
    ({ a, b }) => text(String(a + b)),
  )
  server.registerTool(
    'upper',
    { description: 'Turns its text into capitals.', inputSchema: { text: z.string() } },
    ({ text: value }) => text(value.toUpperCase()),
  )
  return server
}
