// The model server of docs/llm/start.md on loopback, for readers without a key: it speaks the formats of OpenAI and
// Anthropic, and repeats the message of the user.
import { once } from 'node:events'
import { modelServer } from './quickstart/model.ts'

const { MODEL_PORT = '18082' } = process.env

const server = modelServer()
server.listen(Number(MODEL_PORT), '127.0.0.1')
await once(server, 'listening')
console.log(`model server http://127.0.0.1:${MODEL_PORT}/v1`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    server.close()
    server.closeAllConnections()
  })
}
