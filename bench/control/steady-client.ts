// A thread with an upstream, and a client that sends one request after the other over a kept connection: the main
// thread of a proxy in the same process delays neither. For large-change.ts.
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { parentPort } from 'node:worker_threads'
import { ownAddress, upstream } from './traffic.ts'

const PAUSE_MS = 1

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const main = parentPort
if (main === null) throw new Error('runs as a thread')
const server = await upstream('one', ownAddress())
main.postMessage(server.address)
for (;;) {
  // As large-change.ts sends it.
  const [target] = (await once(main, 'message')) as [{ readonly port: number; readonly host: string }]
  main.postMessage(await timesOf(target, once(main, 'message')))
}

/** In milliseconds, until the end. */
async function timesOf(
  target: { readonly port: number; readonly host: string },
  end: Promise<unknown>,
): Promise<number[]> {
  const times: number[] = []
  const ending = new AbortController()
  void end.then(() => ending.abort())
  while (!ending.signal.aborted) {
    const begun = performance.now()
    await send(target)
    times.push(performance.now() - begun)
    await delay(PAUSE_MS)
  }
  return times
}

function send({ port, host }: { readonly port: number; readonly host: string }): Promise<void> {
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
