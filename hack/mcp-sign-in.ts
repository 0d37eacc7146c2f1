// The servers of docs/mcp/protect-a-server.md on loopback: an authorization server (oidc-provider) that accepts every
// user and password, and an MCP server with three tools. alice and the client of programs have the role admin.
import { once } from 'node:events'
import { startIdentityProvider } from '../test/mcp-sign-in/identity-provider.ts'
import { VENDORS } from '../test/mcp-sign-in/vendors.ts'
import { mcpServer } from './quickstart/mcp.ts'

const [PLAIN] = VENDORS
const { IDP_PORT = '9000', MCP_PORT = '18083', MCP_URL = 'http://127.0.0.1:3000/mcp' } = process.env

async function main(): Promise<void> {
  if (PLAIN === undefined) throw new Error('no provider without differences')
  const claims = (user: string | undefined): object => ({
    roles: [user === undefined || user === 'alice' ? 'admin' : 'reader'],
  })
  const server = mcpServer()
  server.listen(Number(MCP_PORT), '127.0.0.1')
  await once(server, 'listening')
  const provider = await startIdentityProvider(PLAIN, { resource: MCP_URL, claims, port: Number(IDP_PORT) })
  console.log(`identity provider ${provider.issuer}, MCP server http://127.0.0.1:${MCP_PORT}/mcp`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      provider.stop()
      server.close()
      server.closeAllConnections()
    })
  }
}

await main()
