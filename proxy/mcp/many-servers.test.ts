// As many servers as one selector finds, with the official client.
// @module-tag full
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { closeServer } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { until } from '#test/wait.ts'
import { legacyUpstream, type LegacyUpstream, mcpRoute, upstreamRoute } from './servers.testing.ts'

/** Of one selector. */
const SERVERS = 128
/** Characters; as long as those of Services usually are, also with the ids of their sessions. */
const NAME_LENGTH = 60

let server: LegacyUpstream
let gateway: TestProxy

const nameOf = (index: number): string => `${index}-`.padEnd(NAME_LENGTH, 'x')

beforeAll(async () => {
  server = await legacyUpstream('a')
  const { port } = server
  const targets = Array.from({ length: SERVERS }, (_, index) => ({ name: nameOf(index), port }))
  gateway = await testProxy({ workers: 1, routes: [upstreamRoute(server), mcpRoute('many', targets)] })
})

afterAll(async () => {
  await gateway.stop()
  closeServer(server.server)
})

it('128 servers are one for a client', { timeout: 120_000 }, async () => {
  const client = new Client({ name: 't', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url}/many`))
  await client.connect(transport)
  expect(server.openSessions()).toBe(SERVERS)
  const { tools } = await client.listTools()
  expect(tools.filter(({ name }) => name.endsWith('_whoami'))).toHaveLength(SERVERS)
  const last = `${nameOf(SERVERS - 1)}_whoami`
  expect(await client.callTool({ name: last })).toMatchObject({ content: [{ text: 'a' }] })
  await transport.terminateSession()
  await until('all sessions have ended', () => server.openSessions() === 0)
  await client.close()
})
