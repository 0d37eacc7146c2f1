// A thread that sends one request after the other over a kept connection, and reports how long each took.
import { setTimeout as delay } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { Agent, request } from 'node:http'

const PAUSE_MS = 1

// As large-change.ts sets it.
const { port, host } = workerData as { readonly port: number; readonly host: string }
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const times: number[] = []
const ending = new AbortController()

parentPort?.once('message', () => ending.abort())
await send()
parentPort?.postMessage('started')
while (!ending.signal.aborted) {
  const begun = performance.now()
  await send()
  times.push(performance.now() - begun)
  await delay(PAUSE_MS)
}
agent.destroy()
parentPort?.postMessage(times)

function send(): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, agent, headers: { host } }, (response) => {
      response.resume()
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`))
      response.once('end', resolve)
    })
    sent.once('error', reject)
    sent.end()
  })
}
