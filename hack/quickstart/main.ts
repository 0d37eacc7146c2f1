// `make run`: three upstreams, an issuer of tokens and a gateway on loopback, from the manifests of
// config/samples/quickstart. Ends all of them together.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { echoServer } from './echo.ts'
import { issuerServer } from './issuer.ts'
import { mcpServer } from './mcp.ts'
import { modelServer } from './model.ts'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const READY_DEADLINE_MS = 30_000
const READY_POLL_MS = 50

const UPSTREAMS: readonly (readonly [string, number, () => Server])[] = [
  ['echo server', 18_081, echoServer],
  ['model server', 18_082, modelServer],
  ['MCP server', 18_083, mcpServer],
  ['issuer', 18_084, issuerServer],
]

const GUIDE = `
Gw is running. Try, in another terminal:

  HTTP, with a header added by the route
    curl -s http://127.0.0.1:8080/echo
  LLM, chat-completions provider (add "stream": true to stream)
    curl -s http://127.0.0.1:8080/v1/chat/completions -H 'content-type: application/json' \\
      -d '{"model":"fast","messages":[{"role":"user","content":"hello"}]}'
  LLM, the same format translated for a messages provider
    curl -s http://127.0.0.1:8080/claude/v1/chat/completions -H 'content-type: application/json' \\
      -d '{"model":"any","messages":[{"role":"user","content":"hello"}]}'
  LLM, the messages format as it is
    curl -s http://127.0.0.1:8080/claude/v1/messages -H 'content-type: application/json' \\
      -d '{"model":"any","max_tokens":64,"messages":[{"role":"user","content":"hello"}]}'
  LLM, the next provider after one that is overloaded; a guard masks the address, and the log has the cost
    curl -s http://127.0.0.1:8080/resilient/v1/chat/completions -H 'content-type: application/json' \\
      -d '{"model":"any","messages":[{"role":"user","content":"write to alice@example.com"}]}'
  MCP, initialize
    curl -s http://127.0.0.1:8080/mcp -H 'content-type: application/json' \\
      -H 'accept: application/json, text/event-stream' \\
      -d '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"curl","version":"1"}}}'
  Authorization by CEL: 403, and 200 with -H 'x-role: admin'
    curl -si http://127.0.0.1:8080/admin-only
  Rate limit: 429 after five requests a minute
    curl -si http://127.0.0.1:8080/limited
  TLS and JWT, with keys fetched from the issuer: 401, and 200 with a token
    curl -si --cacert config/samples/quickstart/localhost.pem https://localhost:8443/members
    curl -s --cacert config/samples/quickstart/localhost.pem https://localhost:8443/members \\
      -H "authorization: Bearer $(curl -s http://127.0.0.1:18084/token)"
  What one request went through: every policy, expression and choice
    bin/gw proxy trace --local --port 8080 -- http://127.0.0.1:8080/admin-only

  Web UI http://127.0.0.1:15000/ui   configuration http://127.0.0.1:15000/config_dump
  Metrics http://127.0.0.1:15020/metrics   ready http://127.0.0.1:15021/healthz/ready
  Edit a file in config/samples/quickstart: it takes effect at once. Ctrl-C ends everything.
`

async function main(): Promise<number> {
  const servers: Server[] = []
  for (const [name, port, create] of UPSTREAMS) {
    const problem = await listen(create, port, servers)
    if (problem === undefined) continue
    console.error(`The ${name} of the quickstart cannot listen on 127.0.0.1:${port}: ${problem}`)
    closeAll(servers)
    return 1
  }
  const gateway = spawn(join(ROOT, 'bin', 'gw'), ['run', '-f', join(ROOT, 'config', 'samples', 'quickstart')], {
    stdio: 'inherit',
    // In a group of its own: a terminal sends Ctrl-C to all of a group, and the gateway takes a second one as an order
    // to end at once. So every signal reaches it once, by this process, whoever sends it.
    detached: true,
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => gateway.kill(signal === 'SIGHUP' ? 'SIGTERM' : signal))
  }
  const ended = once(gateway, 'exit')
  const isReady = await whenReady(() => gateway.exitCode !== null || gateway.signalCode !== null)
  if (isReady) console.log(GUIDE)
  const [code] = await ended
  closeAll(servers)
  return typeof code === 'number' ? code : 0
}

async function listen(create: () => Server, port: number, servers: Server[]): Promise<string | undefined> {
  const server = create()
  server.listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  servers.push(server)
  return undefined
}

/** False when the gateway has ended, or does not get ready in time. */
async function whenReady(isOver: () => boolean): Promise<boolean> {
  const deadline = performance.now() + READY_DEADLINE_MS
  while (!isOver() && performance.now() < deadline) {
    const isReady = await fetch('http://127.0.0.1:15021/healthz/ready').then(
      (response) => response.ok,
      () => false,
    )
    if (isReady) return true
    await delay(READY_POLL_MS)
  }
  return false
}

function closeAll(servers: readonly Server[]): void {
  for (const server of servers) {
    server.close()
    server.closeAllConnections()
  }
}

process.exitCode = await main()
