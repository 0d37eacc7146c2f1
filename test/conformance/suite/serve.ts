// For readers of docs/policies: starts the upstreams of the samples on the ports of the samples, until Ctrl-C.
import { rmSync } from 'node:fs'
import { SAMPLE_PORTS, SAMPLE_SOCKET, startUpstreams } from './upstreams.ts'

rmSync(SAMPLE_SOCKET, { force: true })
const upstreams = await startUpstreams({ socketPath: SAMPLE_SOCKET, port: (name) => SAMPLE_PORTS[name] })
const names = Object.entries(upstreams.ports).map(([name, port]) => `${name} 127.0.0.1:${port}`)
console.log(`upstreams of the samples: ${names.join(', ')}, unix ${SAMPLE_SOCKET}. Ctrl-C ends them.`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void upstreams.stop())
