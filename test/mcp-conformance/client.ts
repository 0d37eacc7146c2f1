// The client of the client leg: the suite serves, and runs this program with its URL. Arguments: `directly` or
// `gateway`, and the URL. It calls every tool that it knows, and reads what the server lists.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { ANY_PORTS, GwProcess } from '#test/cli/gw.ts'
import { freePort } from '#test/ports.ts'

const MODERN = '2026-07-28'
const INFO = { name: 'gw-conformance', version: '1' }
/** `tools/call` of a server that closes its stream and continues in another one. */
const CALL_MS = 15_000

type Tool = Readonly<{ name: string; inputSchema: unknown }>
type Arguments = Readonly<Record<string, unknown>>

/** What the suite asks for. */
const given = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? 'null') as {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Arguments }[]
} | null

/** Arguments of the tools of the suite that need some. */
function argumentsOf({ name }: Tool, tools: readonly Tool[]): Arguments {
  if (name === 'add_numbers') return { a: 5, b: 3 }
  const focal = tools.find((tool) => tool.name !== name)
  return name === 'json_schema_echo' ? { schema: focal?.inputSchema } : {}
}

async function useLegacy(url: string): Promise<void> {
  const client = new Client(INFO, { capabilities: { elicitation: { form: { applyDefaults: true } } } })
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: {} }))
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  const { tools } = await client.listTools()
  for (const tool of tools) {
    await client.callTool({ name: tool.name, arguments: argumentsOf(tool, tools) }, undefined, { timeout: CALL_MS })
  }
  await client.close()
}

async function useModern(url: string): Promise<void> {
  const client = new ModernClient(INFO, {
    capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} },
    versionNegotiation: { mode: { pin: MODERN } },
  })
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: {} }))
  await client.connect(new ModernTransport(new URL(url)))
  const { tools } = await client.listTools()
  const calls = given?.toolCalls ?? tools.map((tool) => ({ name: tool.name, arguments: argumentsOf(tool, tools) }))
  // At once: answers to questions of servers must not reach another call.
  const called = await Promise.allSettled(
    calls.map(({ name, arguments: own }) => client.callTool({ name, arguments: { ...own } })),
  )
  for (const result of called) if (result.status === 'rejected') console.error(result.reason)
  await client.close()
}

const [way, server = ''] = process.argv.slice(2)
const use = process.env['MCP_CONFORMANCE_PROTOCOL_VERSION'] === MODERN ? useModern : useLegacy

if (way === 'directly') await use(server)
else {
  const folder = mkdtempSync(join(tmpdir(), 'gw-mcp-conformance-'))
  const port = await freePort()
  writeFileSync(
    join(folder, 'gateway.json'),
    JSON.stringify({ mcp: { port, targets: [{ name: 'suite', mcp: { host: server } }] } }),
  )
  const gateway = new GwProcess(['run', '-f', join(folder, 'gateway.json'), ...ANY_PORTS])
  try {
    await gateway.says('gw: serving')
    await use(`http://127.0.0.1:${port}/mcp`)
  } finally {
    await gateway.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
