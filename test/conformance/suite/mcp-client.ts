// The official MCP client for a path of a sample, closed when the case ends.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { SampleGateway } from './gateway.ts'

export interface McpOptions {
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
}

export async function withMcp<T>(
  gateway: SampleGateway,
  { path, headers = {} }: McpOptions,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({ name: 'conformance', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL(gateway.url + path), { requestInit: { headers } })
  await client.connect(transport)
  try {
    return await use(client)
  } finally {
    await client.close()
  }
}

export async function toolNames(client: Client): Promise<string[]> {
  return (await client.listTools()).tools.map(({ name }) => name)
}

/** The text in the result of a tool. */
export async function callTool(client: Client, name: string, args: Record<string, unknown>): Promise<unknown> {
  const { content } = await client.callTool({ name, arguments: args })
  const [first] = Array.isArray(content) ? (content as readonly { text?: unknown }[]) : [] // MCP content blocks
  return first?.text
}
