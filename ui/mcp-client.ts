// The official MCP client for one session, in a file of its own (`assets/mcp-client.js`): it is most of the code of the
// UI, and only a page that opens a session needs it.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

export interface McpClientOptions {
  readonly url: string
  /** Empty: none. */
  readonly token: string
  readonly fetch: typeof fetch
}

/** Not connected yet. */
export function mcpClient({ url, token, fetch }: McpClientOptions) {
  const client = new Client({ name: 'gw-ui', version: '1' }, { capabilities: { sampling: {}, elicitation: {} } })
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch,
    requestInit: { headers: token === '' ? {} : { authorization: `Bearer ${token}` } },
  })
  return { client, transport }
}
