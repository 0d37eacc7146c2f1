// The program of the demo image: the upstreams of the samples for a cluster (config/samples), and the client that the
// cluster tests send requests with. Never part of the product.
//   serve         echo 8080, model 8081, MCP 8082, TCP echo 8083, gRPC echo 8084, until SIGTERM
//   client        waits for calls on 127.0.0.1:9000 of its pod
//   call JSON     makes the client do it and prints the answer as JSON
import { mcpServer } from '../quickstart/mcp.ts'
import { modelServer } from '../quickstart/model.ts'
import { call, serveCalls } from './client.ts'
import { echoServer, grpcServer, tcpServer } from './servers.ts'

/** Time between the end of readiness and the end of the listeners: proxies must learn of it first. */
const DRAIN_MS = 5_000

const [command, argument = ''] = process.argv.slice(2)
if (command === 'serve') serve()
else if (command === 'client') await serveCalls()
else if (command === 'call') console.log(JSON.stringify(await call(argument)))
else {
  console.error('usage: demo serve | client | call JSON')
  process.exitCode = 2
}

function serve(): void {
  const echo = echoServer()
  const servers = [
    echo.server.listen(8080),
    modelServer().listen(8081),
    mcpServer().listen(8082),
    tcpServer().listen(8083),
    grpcServer().listen(8084),
  ]
  process.once('SIGTERM', () => {
    echo.leave()
    setTimeout(() => {
      for (const server of servers) server.close()
      process.exit(0)
    }, DRAIN_MS)
  })
}
