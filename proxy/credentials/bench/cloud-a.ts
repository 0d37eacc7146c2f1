// Processor time of one signature of cloudA over a request with 1 KiB of body.
// Run: node proxy/credentials/bench/cloud-a.ts [requests]
import { type RequestToSign, signatureFields } from '../cloud-a/signature.ts'

const REQUESTS = Number(process.argv[2] ?? 20_000)

const request: RequestToSign = {
  method: 'POST',
  pathAndQuery: '/model/anthropic.claude-3-haiku%3A0/converse',
  authority: 'bedrock-runtime.eu-central-1.amazonaws.com',
  headers: [
    ['content-type', 'application/json'],
    ['accept', '*/*'],
    ['user-agent', 'bench'],
  ],
  body: Buffer.alloc(1024, 'x'),
}
const keys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', sessionToken: 't'.repeat(800) }
const scope = { service: 'bedrock', region: 'eu-central-1' }

async function sign(count: number): Promise<number> {
  const start = process.cpuUsage()
  for (let done = 0; done < count; done++) await signatureFields(request, keys, scope, new Date())
  const { user, system } = process.cpuUsage(start)
  return (user + system) / count
}

await sign(Math.ceil(REQUESTS / 4))
const rounds: number[] = []
for (let round = 0; round < 5; round++) rounds.push(await sign(REQUESTS))
rounds.sort((a, b) => a - b)
console.log(`${rounds[2]?.toFixed(1)} µs of processor time for each signature of 1 KiB (median of 5)`)
