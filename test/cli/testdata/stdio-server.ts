// A small MCP server over stdin and stdout: one tool that returns the id of its process.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'

const server = new McpServer({ name: 'stdio', version: '1.0.0' })
server.registerTool('pid', { description: 'Process id' }, () => ({
  content: [{ type: 'text', text: `${process.pid} ${process.env['GREETING'] ?? ''}` }],
}))
await server.connect(new StdioServerTransport())
