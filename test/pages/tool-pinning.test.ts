// docs/mcp/tool-pinning.md as a reader follows it, with an MCP server of this machine in place of that of the page.
// @module-tag full
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, it, onTestFinished } from 'vitest'
import { ROOT } from '#test/cli/gw.ts'
import { deviations } from '#test/console-steps.ts'
import { closeServer, listening } from '#test/ports.ts'
import { layCommand, outputsOf, Ports } from './shell.ts'
import { commandsFor, deviationFrom } from './tested-pages.ts'

const TEST = 'test/pages/tool-pinning.test.ts'
const CASE_MS = 120_000
const READ = {
  name: 'read',
  description: 'Reads a file',
  inputSchema: { type: 'object' as const, properties: { path: { type: 'string' } }, required: ['path'] },
}

const page = readFileSync(join(ROOT, 'docs/mcp/tool-pinning.md'), 'utf8')

it('docs/mcp/tool-pinning.md shows what gw mcp pins prints', { timeout: CASE_MS }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gw-pins-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const server = createServer((request, response) => void serve(request, response))
  onTestFinished(() => closeServer(server))
  const url = `http://127.0.0.1:${await listening(server)}/mcp`
  layCommand(folder)
  const steps = commandsFor(TEST, 'docs/mcp/tool-pinning.md')
  const change = (command: string): string => command.replace('https://files.example.com/mcp', url)
  const printed = await outputsOf(steps, { folder, ports: new Ports(new Map()), change })
  expect(deviations(steps, printed)).toEqual([])
  expect(
    deviationFrom(
      TEST,
      'docs/cli.md',
      steps.map(({ command }) => command),
    ),
  ).toBeUndefined()
  const digests = [...page.matchAll(/sha256:[0-9a-f]+/g)].map(([digest]) => digest)
  expect(new Set(digests).size).toBe(1)
  expect(printed[0]).toContain(digests[0])
})

/** A server with the tool of the page; a session for each request. */
async function serve(
  ...[request, response]: Parameters<StreamableHTTPServerTransport['handleRequest']>
): Promise<void> {
  const server = new Server({ name: 'files', version: '1' }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [READ] }))
  const transport = new StreamableHTTPServerTransport({})
  await server.connect(transport)
  await transport.handleRequest(request, response)
}
